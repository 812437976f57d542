import FaultlineCoreData

// A published plan of SwiftData: only the import is another one.

// swift-format-ignore
enum NotesPlan: SchemaMigrationPlan {
    static var schemas: [any VersionedSchema.Type] { [NotesV1.self, NotesV2.self] }
    static var stages: [MigrationStage] { [restructure] }
    // Safe because the closures of a stage run one after the other.
    nonisolated(unsafe) private static var converted: [NotesV2.WineNote] = []
    static let restructure = MigrationStage.custom(
        fromVersion: NotesV1.self, toVersion: NotesV2.self,
        willMigrate: { context in
            converted = try context.fetch(FetchDescriptor<NotesV1.Wine>()).map { NotesV2.WineNote(wine: $0.name, grapes: $0.grapes) }
        },
        didMigrate: { context in
            converted.forEach { context.insert($0) }
            try context.save()
        })
}
