internal import Faultline
internal import FaultlineDisk
internal import FaultlineLog
internal import FaultlineTestSupport

// Openings after the threads have ended, under several schemas.

/// Classes of the newer schema, which replace those of the same names.
enum Newer {
    @Model final class Named {
        #Index<Named>([\.key])
        var key: Int
        @Attribute(.unique) var name: Int
        var mark: Int?
        init(_ key: Int, name: Int) {
            self.key = key
            self.name = name
        }
    }
}

extension SerialLife {
    /// Opens the store again and reads all objects under three schemas.
    ///
    /// They are its own schema, a newer one that saves additional values, and its own again. The last opening must be
    /// refused until it may drop those values.
    ///
    /// - Returns: The reads.
    /// - Throws: `SerialFailure`; errors of the store.
    func reading(_ disk: Disk, _ options: LogOptions, after shared: SerialShared) throws -> [SerialEvent] {
        func open(_ types: [any PersistentModel.Type], _ migration: MigrationOptions) throws -> ModelContainer {
            try ModelContainer(for: types, directory: "store", on: disk, options: options, migration: migration)
        }
        func read(_ container: ModelContainer, _ kinds: [SerialKind]) throws -> [SerialEvent] {
            let last = SerialWorker(
                SerialShared(container: container, floor: shared.floor), thread: 99, seed: Seed(0), canary: nil)
            for kind in kinds { try last.fetchAll(kind) }
            try Self.verify(container)
            return last.events
        }
        var events: [SerialEvent] = []
        var container = try open(SerialKind.types, MigrationOptions())
        events += try read(container, SerialKind.allCases)
        try container.close()
        let newer: [any PersistentModel.Type] =
            SerialKind.types.filter { $0 != Named.self } + [Newer.Named.self, Later.self] as [any PersistentModel.Type]
        container = try open(newer, MigrationOptions())
        try saveNewer(container)
        // The worker uses the other class of that name.
        events += try read(container, SerialKind.allCases.filter { $0 != .named })
        try container.close()
        let dropping = MigrationOptions(unhandledData: .drop, allowsOlderSchema: true)
        do {
            try open(SerialKind.types, canary == .schemas ? dropping : MigrationOptions()).close()
            throw SerialFailure(description: "values of the newer schema were dropped, and nothing allows that")
        } catch let error as MigrationError where error.code == .backward {}
        container = try open(SerialKind.types, dropping)
        events += try read(container, SerialKind.allCases)
        try container.close()
        return events
    }

    /// Saves values that the older schema lacks.
    private func saveNewer(_ container: ModelContainer) throws {
        let context = ModelContext(container)
        context.insert(Later(1))
        for (number, object) in try context.fetch(FetchDescriptor<Newer.Named>()).enumerated() { object.mark = number }
        try context.save()
    }
}
