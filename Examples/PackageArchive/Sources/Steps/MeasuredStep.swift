import Faultline
import FaultlineCommands

/// The steps whose memory is measured: each runs in a process of its own, so that memory which an earlier step has
/// freed hides nothing.
package enum MeasuredStep: String, CaseIterable, Sendable {
    /// Lists all names.
    case list
    /// From the first schema to the second.
    case lightweight
    /// From the second schema to the third.
    case streamed

    /// Runs the step on a store and measures it.
    ///
    /// - Parameters:
    ///   - store: The store's directory.
    ///   - cacheByteCount: The cache budget.
    ///   - ceilingByteCount: The memory ceiling of migrations.
    /// - Returns: The cost of the step.
    /// - Throws: The errors of opening and reading the store.
    package func run(on store: String, cacheByteCount: Int, ceilingByteCount: Int) throws -> StepFigures {
        try warmUp()
        ProcessMemory.resetPeak()
        let base = ProcessMemory.now().residentByteCount
        let begin = monotonicSeconds()
        var figures =
            switch self {
            case .list: try Self.list(store, cacheByteCount)
            case .lightweight: try Self.migrate(store, to: DemoV2.self, ceilingByteCount)
            case .streamed: try Self.migrate(store, to: DemoV3.self, ceilingByteCount)
            }
        figures.seconds = monotonicSeconds() - begin
        figures.memoryByteCount = max(0, ProcessMemory.now().peakByteCount - base)
        return figures
    }

    private static func list(_ store: String, _ cacheByteCount: Int) throws -> StepFigures {
        let container = try open(store, DemoV1.self) { $0.memoryBudget = cacheByteCount }
        let context = ModelContext(container)
        var figures = StepFigures()
        var letters = 0
        try context.enumerate(FetchDescriptor<DemoV1.Package>()) { package in
            letters += package.name.utf8.count
            figures.count += 1
        }
        figures.blobByteCount = context.counters.blobBytesRead
        try container.close()
        return figures
    }

    private static func migrate(
        _ store: String,
        to version: any VersionedSchema.Type,
        _ ceilingByteCount: Int
    ) throws -> StepFigures {
        let container = try open(store, version) { options in
            // The ceiling covers everything the engine holds, its cache included.
            options.memoryBudget = ceilingByteCount / 2
            options.migration.memoryCeiling = ceilingByteCount
        }
        let report = container.migrationReport
        var figures = StepFigures()
        figures.count = report.objectsWritten
        figures.blobByteCount = report.blobBytesRead
        try container.close()
        return figures
    }

    /// Opens a store of the demo under one of its schemas.
    static func open(
        _ store: String,
        _ version: any VersionedSchema.Type,
        _ setting: (inout StoreOptions) -> Void = { _ in }
    ) throws -> ModelContainer {
        let schema = Schema(versionedSchema: version)
        var configuration = ModelConfiguration(schema: schema, url: URL(filePath: store, directoryHint: .isDirectory))
        setting(&configuration.options)
        return try ModelContainer(for: schema, migrationPlan: DemoPlan.self, configurations: configuration)
    }

    /// Does the work of the steps on a few objects in memory, so that the library's code and tables are loaded before
    /// the base line is measured.
    private func warmUp() throws {
        let schema = Schema(versionedSchema: DemoV1.self)
        let configuration = ModelConfiguration(schema: schema, isStoredInMemoryOnly: true)
        let container = try ModelContainer(for: schema, migrationPlan: DemoPlan.self, configurations: configuration)
        let context = ModelContext(container)
        for number in 0..<64 {
            var package = ImportedPackage()
            package.name = "package \(number)"
            context.insert(DemoV1.Package(package))
        }
        try context.save()
        try context.enumerate(FetchDescriptor<DemoV1.Package>()) { _ = $0.name }
        try container.close()
    }
}
