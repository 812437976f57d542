import Faultline

enum Readings1: VersionedSchema {
    static var models: [any PersistentModel.Type] = [Reading.self]
    static var versionIdentifier = Schema.Version(1, 0, 0)

    @Model final class Reading {
        var value: String
        init(value: String) { self.value = value }
    }
}

enum Readings2: VersionedSchema {
    static var models: [any PersistentModel.Type] = [Reading.self]
    static var versionIdentifier = Schema.Version(2, 0, 0)

    @Model final class Reading {
        var number: Double = 0
        init(number: Double) { self.number = number }
    }
}

/// A plan in the style of Swift 5, with stored static variables.
///
/// Its stage shares values between its closures in one.
enum ReadingsPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] = [Readings1.self, Readings2.self]
    static var stages: [MigrationStage] = [migrate1to2]
    static var values: [String] = []

    static let migrate1to2 = MigrationStage.custom(
        fromVersion: Readings1.self,
        toVersion: Readings2.self,
        willMigrate: { context in
            let readings = try context.fetch(FetchDescriptor<Readings1.Reading>())
            values = readings.map(\.value)
            readings.forEach { context.delete($0) }
            try context.save()
        },
        didMigrate: { context in
            values.compactMap(Double.init).forEach { context.insert(Readings2.Reading(number: $0)) }
            try context.save()
        })
}
