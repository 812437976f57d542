package import Faultline
internal import FaultlineDisk
internal import FaultlineLog
internal import FaultlineMigration
internal import FaultlineTestSupport
internal import Foundation

package enum Measured1: VersionedSchema {
    package static var models: [any PersistentModel.Type] { [Employee.self] }
    package static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model package final class Employee {
        var number: Int
        var name: String
        var payload: String
        init(number: Int, name: String, payload: String) {
            self.number = number
            self.name = name
            self.payload = payload
        }
    }
}

package enum Measured2: VersionedSchema {
    package static var models: [any PersistentModel.Type] { [Employee.self] }
    package static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model package final class Employee {
        var number: Int
        var firstName: String
        var lastName: String
        var payload: String
        init(number: Int, firstName: String, lastName: String, payload: String) {
            self.number = number
            self.firstName = firstName
            self.lastName = lastName
            self.payload = payload
        }
    }
}

package enum MeasuredPlan: SchemaMigrationPlan {
    package static var schemas: [any VersionedSchema.Type] { [Measured1.self, Measured2.self] }
    package static var stages: [MigrationStage] {
        [
            .streamed(
                fromVersion: Measured1.self, toVersion: Measured2.self,
                StreamedEntity(Measured1.Employee.self) { old, output in
                    let name = old.name
                    let space = name.utf8.firstIndex(of: UInt8(ascii: " ")) ?? name.endIndex
                    try output.insert(
                        Measured2.Employee(
                            number: old.number, firstName: String(name[..<space]),
                            lastName: String(name[space...].dropFirst()), payload: old.payload))
                })
        ]
    }
}

/// What a streamed migration of many rows has cost.
package struct MigrationMeasurement: Sendable, CustomStringConvertible {
    package var rows = 0
    package var seconds = 0.0
    /// How far the peak of resident memory rose above what was resident when the container was opened.
    package var peakByteCount = 0
    package var isRight = false

    package var description: String {
        "\(rows) rows in \(seconds) s, \(Int(Double(rows) / seconds)) rows/s, \(peakByteCount >> 20) MiB over the base line"
    }
}

/// Writes rows under the old schema: to be run in a process of its own, before `measureMigration`.
package func prepareMigrationMeasurement(_ directory: String, rows: Int, payloadByteCount: Int) throws {
    let container = try ModelContainer(
        for: Measured1.models, directory: directory, on: PosixDisk(), options: LogOptions())
    let context = ModelContext(container)
    let payload = String(repeating: "x", count: payloadByteCount)
    for number in 0..<rows {
        context.insert(Measured1.Employee(number: number, name: "First\(number) Last\(number)", payload: payload))
        if number % 2_000 == 1_999 { try context.save() }
    }
    try context.save()
    try container.close()
}

/// Migrates what `prepareMigrationMeasurement` has written.
package func measureMigration(_ directory: String, rows: Int, ceiling: Int) throws -> MigrationMeasurement {
    var measurement = MigrationMeasurement()
    _ = PeakMemory.reset()
    let before = PeakMemory.residentByteCount ?? 0
    let start = ContinuousClock.now
    let container = try ModelContainer(
        for: Measured2.models, migrationPlan: MeasuredPlan.self, directory: directory, on: PosixDisk(),
        options: LogOptions(), migration: MigrationOptions(memoryCeiling: ceiling))
    let duration = ContinuousClock.now - start
    measurement.seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) * 1e-18
    measurement.peakByteCount = (PeakMemory.peakByteCount ?? 0) - before
    measurement.rows = container.migrationReport.objectsWritten
    let context = ModelContext(container)
    measurement.isRight = try context.fetchCount(FetchDescriptor<Measured2.Employee>()) == rows
    let last = rows - 1
    let found = try context.fetch(FetchDescriptor<Measured2.Employee>(predicate: #Predicate { $0.number == last }))
        .first
    if found?.firstName != "First\(last)" || found?.lastName != "Last\(last)" { measurement.isRight = false }
    try container.close()
    return measurement
}
