import Faultline
import FaultlineMigration
import FaultlineStore
import Testing

/// Only `output.upsert` merges two objects into one.
struct StreamedUniquenessTests {
    enum V1: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Reading.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

        @Model final class Reading {
            var sensor: String
            var isFirst: Bool
            init(sensor: String, isFirst: Bool = false) {
                self.sensor = sensor
                self.isFirst = isFirst
            }
        }
    }

    enum V2: VersionedSchema {
        static var models: [any PersistentModel.Type] { [Reading.self, Sensor.self] }
        static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

        @Model final class Reading {
            var sensor: Sensor?
            init() {}
        }

        @Model final class Sensor {
            @Attribute(.unique) var name: String
            init(name: String) { self.name = name }
        }
    }

    private enum Plan: SchemaMigrationPlan {
        @TaskLocal static var isInserting = false
        /// Readings up to this number insert their sensor, if they are the first to name it.
        @TaskLocal static var insertsThrough = -1
        static var schemas: [any VersionedSchema.Type] { [V1.self, V2.self] }
        static var stages: [MigrationStage] {
            [
                .streamed(
                    fromVersion: V1.self, toVersion: V2.self,
                    StreamedEntity(V1.Reading.self) { old, output in
                        let new = V2.Reading()
                        let sensor = V2.Sensor(name: old.sensor)
                        let inserts = isInserting || (Int(old.sensor.dropFirst()) ?? 0) <= insertsThrough && old.isFirst
                        if inserts { try output.insert(sensor) }
                        new.sensor = inserts ? sensor : try output.upsert(sensor)
                        try output.insert(new)
                    })
            ]
        }
    }

    /// Options with shares of six readings, so that most readings of a sensor are in later shares than its first.
    private func options(_ batchByteCount: Int, _ workerCount: Int) -> MigrationOptions {
        var options = MigrationOptions()
        options.batchByteCount = batchByteCount
        options.workerCount = workerCount
        options.shareCount = 6
        return options
    }

    @Test(arguments: [200, 1 << 20], [1, 2, 4])
    func `a second object with the same unique value is refused`(batch: Int, workerCount: Int) throws {
        let stores = Stores()
        try stores.use(V1.self) { _, context in
            for number in 0..<40 { context.insert(V1.Reading(sensor: "s\(number % 7)")) }
            try context.save()
        }
        let options = options(batch, workerCount)
        let error = Plan.$isInserting.withValue(true) {
            #expect(throws: MigrationError.self) { try stores.open(V2.self, Plan.self, migration: options) }
        }
        #expect(error?.code == .stageFailed && error?.stage == "1.0.0 → 2.0.0" && error?.entityName == "Reading")
        #expect(error?.description.contains("the same unique values") == true, "\(error?.description ?? "")")
        #expect(error?.description.contains("output.upsert") == true)
        // The first sensor that is named again, regardless of the workers' speed.
        #expect(error?.description.contains("as object 1.") == true, "\(error?.description ?? "")")
        try stores.use(V1.self) { _, context in
            try #expect(context.fetchCount(FetchDescriptor<V1.Reading>()) == 40)
        }
        try stores.use(V2.self, Plan.self, migration: options) { container, context in
            let sensors = try context.all(V2.Sensor.self)
            #expect(sensors.map(\.name).sorted() == (0..<7).map { "s\($0)" })
            try #expect(context.all(V2.Reading.self).allSatisfy { $0.sensor != nil })
            #expect(container.migrationReport.objectsWritten == 47)
        }
        #expect(try stores.findings(V2.self) == [])
    }

    /// A share has six readings: with three sensors it inserts and upserts each of them.
    @Test(arguments: [200, 1 << 20], [(1, 7), (2, 7), (4, 7), (1, 3), (4, 3)])
    func `upsert finds inserted objects, saved or not`(batch: Int, setting: (workerCount: Int, sensorCount: Int))
        throws
    {
        let count = setting.sensorCount
        let stores = Stores()
        try stores.use(V1.self) { _, context in
            for number in 0..<40 { context.insert(V1.Reading(sensor: "s\(number % count)", isFirst: number < count)) }
            try context.save()
        }
        let options = options(batch, setting.workerCount)
        try Plan.$insertsThrough.withValue(4) {
            try stores.use(V2.self, Plan.self, migration: options) { container, context in
                let sensors = try context.all(V2.Sensor.self)
                #expect(sensors.map(\.name).sorted() == (0..<count).map { "s\($0)" })
                try #expect(context.all(V2.Reading.self).allSatisfy { $0.sensor != nil })
                #expect(container.migrationReport.objectsFound == 40 - count)
            }
        }
        #expect(try stores.findings(V2.self) == [])
    }
}
