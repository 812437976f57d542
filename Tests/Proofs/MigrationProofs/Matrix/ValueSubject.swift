import Faultline
import FaultlineMigration
import FaultlineTestSupport
import Foundation

enum Value1: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Photo.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model final class Photo {
        var number: Int
        init(number: Int) { self.number = number }
    }
}

/// The same with bytes.
enum Value2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Photo.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class Photo {
        var number: Int
        @Attribute(.externalStorage) var bytes: Data?
        init(number: Int, bytes: Data) {
            self.number = number
            self.bytes = bytes
        }
    }
}

/// Sets the bytes of each photo in the second pass.
final class PhotoPolicy: EntityMigrationPolicy {
    override func createRelationships(
        forDestination dInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
        dInstance["bytes"] = ValueSubject.bytes(dInstance["number"] as? Int ?? -1)
    }
}

enum ValuePlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Value1.self, Value2.self] }
    static var stages: [MigrationStage] {
        [
            MatrixKind.stage(
                from: Value1.self, to: Value2.self,
                streamed: {
                    .streamed(
                        fromVersion: Value1.self, toVersion: Value2.self,
                        StreamedEntity(Value1.Photo.self) { old, output in
                            let number = old.number
                            try output.insert(Value2.Photo(number: number, bytes: ValueSubject.bytes(number)))
                        })
                },
                mapped: MappingModel(
                    EntityMapping(
                        from: "Photo", to: "Photo",
                        attributes: [
                            PropertyMapping(
                                "bytes",
                                .computed { photo, _ in
                                    ValueSubject.bytes(photo["number"] as? Int ?? -1)
                                })
                        ])),
                policy: MappingModel(EntityMapping(from: "Photo", to: "Photo", policy: PhotoPolicy.self)),
                custom: { context in
                    try saveInBatches(context, Value2.Photo.self, every: 100) { photo in
                        photo.bytes = ValueSubject.bytes(photo.number)
                    }
                })
        ]
    }
}

enum ValueSubject: MatrixSubject {
    static let byteCount = 200_000

    static var oldModels: [any PersistentModel.Type] { Value1.models }
    static func newModels(_ kind: MatrixCell.Kind) -> [any PersistentModel.Type] { Value2.models }
    static func plan(_ kind: MatrixCell.Kind) -> any SchemaMigrationPlan.Type { ValuePlan.self }

    /// Returns incompressible bytes that identify the photo.
    static func bytes(_ number: Int) -> Data {
        var random = Seed(UInt64(bitPattern: Int64(number)))
        var data = Data(count: byteCount)
        data.withUnsafeMutableBytes { bytes in
            for offset in stride(from: 0, to: bytes.count, by: 8) {
                bytes.storeBytes(of: random.next(), toByteOffset: offset, as: UInt64.self)
            }
        }
        return data
    }

    static func fill(_ context: ModelContext, _ size: Int) throws {
        for number in 0..<size {
            context.insert(Value1.Photo(number: number))
            if number % 10_000 == 9_999 { try context.save() }
        }
        try context.save()
    }

    static func isRight(_ context: ModelContext, _ size: Int, _ kind: MatrixCell.Kind) throws -> Bool {
        var isRight = try context.fetchCount(FetchDescriptor<Value2.Photo>()) == size
        // Every object of the smallest store, and a thousand of a larger one.
        try context.enumerate(FetchDescriptor<Value2.Photo>(), batchSize: 100) { photo in
            guard photo.number % max(1, size / 1_000) == 0 else { return }
            if photo.bytes != bytes(photo.number) { isRight = false }
        }
        return try isRight
            && context.fetchCount(FetchDescriptor<Value2.Photo>(predicate: #Predicate { $0.bytes != nil })) == size
    }
}
