import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineMigration
import FaultlineTestSupport
import Foundation
import Synchronization

/// The data of a shape, and its stages.
protocol MatrixSubject {
    static var oldModels: [any PersistentModel.Type] { get }
    static func newModels(_ kind: MatrixCell.Kind) -> [any PersistentModel.Type]
    static func plan(_ kind: MatrixCell.Kind) -> any SchemaMigrationPlan.Type
    /// Inserts objects, and saves in between.
    static func fill(_ context: ModelContext, _ size: Int) throws
    /// Whether all objects were migrated.
    static func isRight(_ context: ModelContext, _ size: Int, _ kind: MatrixCell.Kind) throws -> Bool
}

extension MatrixCell.Shape {
    private var subject: any MatrixSubject.Type {
        switch self {
        case .flat: FlatSubject.self
        case .toMany: ToManySubject.self
        case .manyToMany: ManyToManySubject.self
        case .values: ValueSubject.self
        }
    }

    /// Makes the store of the old version.
    func prepare(_ directory: String, _ size: Int) throws {
        let container = try ModelContainer(
            for: subject.oldModels, directory: directory, on: PosixDisk(), options: LogOptions())
        try subject.fill(ModelContext(container), size)
        try container.close()
    }

    /// Migrates a store, checks its objects, and measures.
    fileprivate func migrate(_ directory: String, _ cell: MatrixCell, commit: String) throws -> MatrixLine {
        MatrixKind.current.withLock { $0 = cell.kind }
        let counted = Guarded(0)
        let options = MigrationOptions(
            memoryCeiling: cell.ceiling << 20,
            progress: { progress in counted.withLock { $0 = max($0, progress.engineBytes) } })
        let rise = try PeakMemory.Rise()
        let start = ContinuousClock.now
        let container = try ModelContainer(
            for: subject.newModels(cell.kind), migrationPlan: subject.plan(cell.kind), directory: directory,
            on: PosixDisk(), options: LogOptions(), migration: options)
        let duration = ContinuousClock.now - start
        let peak = try rise.byteCount()
        let isRight = try subject.isRight(ModelContext(container), cell.size, cell.kind)
        try container.close()
        return MatrixLine(
            commit: commit, cell: cell, peak: peak, counted: counted.withLock { $0 },
            seconds: (duration / .milliseconds(1)).rounded() / 1_000, right: isRight)
    }
}

extension MatrixCell {
    /// Migrates a store of the cell's shape and size, in this process.
    func migrate(_ directory: String, commit: String) throws -> MatrixLine {
        try shape.migrate(directory, self, commit: commit)
    }
}

/// The kind of the stage that the plans of this process have.
enum MatrixKind {
    static let current = Guarded(MatrixCell.Kind.streamed)

    /// The stage of the kind; a custom one changes objects of the new version.
    static func stage(
        from old: any VersionedSchema.Type, to new: any VersionedSchema.Type, streamed entities: () -> MigrationStage,
        mapped: MappingModel, policy: MappingModel, custom change: @escaping @Sendable (ModelContext) throws -> Void
    ) -> MigrationStage {
        switch current.withLock({ $0 }) {
        case .lightweight: .lightweight(fromVersion: old, toVersion: new)
        case .streamed: entities()
        case .mapped: .mapped(fromVersion: old, toVersion: new, mapped)
        case .policy: .mapped(fromVersion: old, toVersion: new, policy)
        case .custom: .custom(fromVersion: old, toVersion: new, willMigrate: nil, didMigrate: change)
        }
    }
}

/// Saves the context of a closure after every thousand objects, as a user would.
func saveInBatches<Model: PersistentModel>(
    _ context: ModelContext, _ type: Model.Type, every count: Int = 1_000, _ change: (Model) throws -> Void
) throws {
    var done = 0
    try context.enumerate(FetchDescriptor<Model>(), batchSize: count, allowEscapingMutations: true) { object in
        try change(object)
        done += 1
        if done % count == 0 { try context.save() }
    }
    try context.save()
}
