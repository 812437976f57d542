import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineMigration
import FaultlineTestSupport
import Foundation

enum Measured1: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Employee.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }

    @Model final class Employee {
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

enum Measured2: VersionedSchema {
    static var models: [any PersistentModel.Type] { [Employee.self] }
    static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }

    @Model final class Employee {
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

enum MeasuredPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Measured1.self, Measured2.self] }
    static var stages: [MigrationStage] {
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

/// Splits the name of each employee.
final class MeasuredSplitting: EntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        let parts = (sInstance["name"] as? String ?? "").split(separator: " ")
        for employee in try manager.destinationInstances(
            forEntityMappingName: mapping.name, sourceInstances: [sInstance])
        {
            employee["firstName"] = String(parts[0])
            employee["lastName"] = String(parts[1])
        }
    }
}

enum MeasuredPolicyPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [Measured1.self, Measured2.self] }
    static var stages: [MigrationStage] {
        [
            .mapped(
                fromVersion: Measured1.self, toVersion: Measured2.self,
                MappingModel(EntityMapping(from: "Employee", to: "Employee", policy: MeasuredSplitting.self)))
        ]
    }
}

/// The costs of a migration of many rows.
struct MigrationMeasurement: Sendable {
    var rows = 0
    var resumes = 0
    var seconds = 0.0
    /// The increase of the peak of resident memory since the container was opened.
    var peakByteCount = 0
    var isRight = false
}

/// Writes rows with the old schema.
///
/// Run it in a separate process, before `measureMigration`.
func prepareMigrationMeasurement(_ directory: String, rows: Int, payloadByteCount: Int) throws {
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

/// A container of the old version with two objects, of which one has been read.
private struct HeldVersion {
    private let container: ModelContainer
    private let context: ModelContext
    private let objects: [Measured1.Employee]

    init(_ directory: String) throws {
        container = try ModelContainer(
            for: Measured1.models, directory: directory, on: PosixDisk(), options: LogOptions())
        context = ModelContext(container)
        // An idle context moves to the newest version after a minute, and a migration on a busy machine may take
        // longer.
        try context.pin("old version")
        var descriptor = FetchDescriptor<Measured1.Employee>()
        descriptor.fetchLimit = 2
        objects = try context.fetch(descriptor)
        _ = objects.first?.name
    }

    /// Whether both objects still have their old values.
    var isWhole: Bool { objects.map(\.name) == ["First0 Last0", "First1 Last1"] }
}

/// Migrates the store of `prepareMigrationMeasurement`, and checks every object.
///
/// - Parameters:
///   - directory: The directory of the store.
///   - rows: The number of objects in the store.
///   - ceiling: The memory in bytes that the migration may take.
///   - plan: A plan with one stage.
///   - isHeld: Whether a container of the old version stays open during the migration, with the default memory budget.
///   - progress: Called after every thousand objects with the number of migrated objects.
/// - Returns: The costs, and whether all objects were migrated.
/// - Throws: Errors of the container, and `PeakMemory.Unmeasured`.
func measureMigration(
    _ directory: String, rows: Int, ceiling: Int, plan: any SchemaMigrationPlan.Type, isHeld: Bool,
    progress: @escaping @Sendable (Int) -> Void
) throws -> MigrationMeasurement {
    var measurement = MigrationMeasurement()
    let held = try isHeld ? HeldVersion(directory) : nil
    let rise = try PeakMemory.Rise()
    let start = ContinuousClock.now
    let container = try ModelContainer(
        for: Measured2.models, migrationPlan: plan, directory: directory, on: PosixDisk(),
        options: LogOptions(),
        migration: MigrationOptions(
            memoryCeiling: ceiling, progress: { if $0.pass == .instances { progress($0.done) } }))
    let duration = ContinuousClock.now - start
    measurement.seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) * 1e-18
    measurement.peakByteCount = try rise.byteCount()
    measurement.rows = container.migrationReport.objectsWritten
    measurement.resumes = container.migrationReport.resumes
    var seen = [Bool](repeating: false, count: rows)
    measurement.isRight = true
    try ModelContext(container).enumerate(FetchDescriptor<Measured2.Employee>()) { employee in
        let number = employee.number
        guard seen.indices.contains(number), !seen[number], employee.firstName == "First\(number)",
            employee.lastName == "Last\(number)", employee.payload.utf8.allSatisfy({ $0 == UInt8(ascii: "x") })
        else { return measurement.isRight = false }
        seen[number] = true
    }
    if seen.contains(false) { measurement.isRight = false }
    if held?.isWhole == false { measurement.isRight = false }
    try container.close()
    return measurement
}
