public import Faultline

/// Runs every path of a migration plan over stores that the releases of its versions made.
///
/// Such a *golden store* is made once for each version, when that is released, and kept with the tests. Its files are
/// those of the release, so a later release that can no longer read them is detected. Tests work on copies.
///
/// ```swift
/// let kit = MigrationTestKit(AppPlan.self, goldenStores: folder)
/// try kit.makeGoldenStores { version, context in … }
/// try kit.run { version, context in #expect(…) }
/// ```
public struct MigrationTestKit {
    /// The environment variable that lets `makeGoldenStores` make missing stores: set it to 1 for one run.
    public static let makingVariable = "FAULTLINE_MAKE_GOLDEN_STORES"

    let plan: any SchemaMigrationPlan.Type
    /// The folder of the golden stores, each named after its version, as in `1.0.0.store`.
    public let goldenStores: URL

    /// Makes a kit for a plan, with the folder that is kept with the tests.
    public init(_ plan: any SchemaMigrationPlan.Type, goldenStores: URL) {
        self.plan = plan
        self.goldenStores = goldenStores
    }

    /// A path that was run: from a version to a later one.
    public struct Path: Sendable {
        /// The version of the golden store.
        public let from: Schema.Version
        /// The version that its copy was migrated to.
        public let to: Schema.Version
        /// The report of the migration in one step.
        public let report: MigrationReport
    }

    // MARK: Golden stores

    /// Makes the missing golden stores, and leaves the existing ones.
    ///
    /// - Parameters:
    ///   - isMaking: Whether to make any; if not, a missing one is an error.
    ///   - fill: Inserts objects of a version; they are saved afterwards. Use every entity and property.
    /// - Returns: The versions whose stores were made.
    /// - Throws: `MigrationTestError.missing` with the version; the errors of the closure and the store.
    /// - Complexity: A store for each missing version, with the objects that `fill` inserts.
    @discardableResult
    public func makeGoldenStores(
        isMaking: Bool = ProcessInfo.processInfo.environment[makingVariable] == "1",
        fill: (_ version: any VersionedSchema.Type, _ context: ModelContext) throws -> Void
    ) throws -> [Schema.Version] {
        var made: [Schema.Version] = []
        for version in plan.schemas where !isPresent(version) {
            guard isMaking else { throw missing(version) }
            try FileManager.default.createDirectory(at: goldenStores, withIntermediateDirectories: true)
            // The store is made elsewhere, because an incomplete one must not count.
            let scratch = try ScratchFolder()
            let store = scratch.url.appending(path: "new.store", directoryHint: .isDirectory)
            try use(store, version) { container in
                let context = ModelContext(container)
                try fill(version, context)
                try context.save()
            }
            // The LOCK file names the process and machine that had the store open. A copy does not need it.
            try FileManager.default.removeItem(at: store.appending(path: "LOCK"))
            // The copy has another name until it is complete.
            let copy = goldenStore(of: version).appendingPathExtension("copying")
            try? FileManager.default.removeItem(at: copy)
            try FileManager.default.copyItem(at: store, to: copy)
            try FileManager.default.moveItem(at: copy, to: goldenStore(of: version))
            made.append(version.versionIdentifier)
        }
        return made
    }

    /// A copy of a store to work on, deleted with this value.
    struct Copy {
        private let scratch: ScratchFolder
        let store: URL

        init(_ scratch: ScratchFolder) {
            self.scratch = scratch
            store = scratch.url.appending(path: "copy.store", directoryHint: .isDirectory)
        }
    }

    func copy(of version: any VersionedSchema.Type) throws -> Copy {
        guard isPresent(version) else { throw missing(version) }
        let copy = Copy(try ScratchFolder())
        try FileManager.default.copyItem(at: goldenStore(of: version), to: copy.store)
        return copy
    }

    private func goldenStore(of version: any VersionedSchema.Type) -> URL {
        goldenStores.appending(path: "\(version.versionIdentifier).store", directoryHint: .isDirectory)
    }

    private func isPresent(_ version: any VersionedSchema.Type) -> Bool {
        FileManager.default.fileExists(atPath: goldenStore(of: version).path)
    }

    private func missing(_ version: any VersionedSchema.Type) -> MigrationTestError {
        MigrationTestError(
            .missing, from: version.versionIdentifier, to: nil,
            "There is no golden store of version \(version.versionIdentifier) in \(goldenStores.path). Make it with the release that has the version: \(Self.makingVariable)=1 for one run of the tests."
        )
    }

    // MARK: Paths

    /// Migrates a copy of every golden store to every later version, both in one step and version by version, and
    /// compares the results.
    ///
    /// - Parameter check: Checks the objects at the end of each path, with their version.
    /// - Returns: The paths, in the order of the plan.
    /// - Throws: `MigrationTestError` with the path: `missing`; `failed` if a store does not open, with the cause;
    ///   `contentsDiffer` and `reportsDiffer` if the results differ. The error of the closure, unchanged.
    /// - Complexity: O(v³) migrations for v versions.
    @discardableResult
    public func run(
        _ check: (_ version: any VersionedSchema.Type, _ context: ModelContext) throws -> Void = { _, _ in }
    ) throws -> [Path] {
        let versions = plan.schemas
        var paths: [Path] = []
        for (start, from) in versions.enumerated() {
            guard isPresent(from) else { throw missing(from) }
            for end in start..<versions.count {
                let direct = try Way(self, from, [versions[end]])
                let stepwise = try Way(self, from, Array(versions[min(start + 1, end)...end]))
                try compare(direct, stepwise, from, versions[end])
                try direct.open(versions[end], self) { try check(versions[end], ModelContext($0)) }
                paths.append(
                    Path(
                        from: from.versionIdentifier, to: versions[end].versionIdentifier, report: direct.reports[0]))
            }
        }
        return paths
    }

    /// A copy of a golden store that was migrated version by version.
    private struct Way {
        private let copy: Copy
        private var store: URL { copy.store }
        let reports: [MigrationReport]
        let contents: [String]

        init(
            _ kit: MigrationTestKit, _ from: any VersionedSchema.Type, _ versions: [any VersionedSchema.Type]
        ) throws {
            copy = try kit.copy(of: from)
            let store = copy.store
            var reports: [MigrationReport] = []
            for version in versions {
                do { try kit.use(store, version) { reports.append($0.migrationReport) } } catch {
                    throw MigrationTestError(
                        .failed, from: from.versionIdentifier, to: version.versionIdentifier,
                        "The golden store of version \(from.versionIdentifier) does not open as \(version.versionIdentifier).",
                        cause: error)
                }
            }
            self.reports = reports
            let container = try ModelContainer(opening: ModelConfiguration(url: store))
            defer { try? container.close() }
            contents = try StoreContents(container).lines
        }

        func open(
            _ version: any VersionedSchema.Type, _ kit: MigrationTestKit, _ body: (ModelContainer) throws -> Void
        ) throws { try kit.use(store, version, body) }
    }

    private func compare(
        _ direct: Way, _ stepwise: Way, _ from: any VersionedSchema.Type, _ to: any VersionedSchema.Type
    ) throws {
        func differs(_ code: MigrationTestError.Code, _ what: String) -> MigrationTestError {
            MigrationTestError(
                code, from: from.versionIdentifier, to: to.versionIdentifier,
                "From version \(from.versionIdentifier) to \(to.versionIdentifier), all at once and one version after the other give different \(what)"
            )
        }
        if direct.contents != stepwise.contents {
            let place = zip(direct.contents, stepwise.contents).prefix { $0 == $1 }.count
            let pair = [direct, stepwise].map { place < $0.contents.count ? $0.contents[place] : "nothing" }
            throw differs(.contentsDiffer, "objects: \(pair[0]) and \(pair[1]).")
        }
        let one = ReportCounts(direct.reports)
        let other = ReportCounts(stepwise.reports)
        if one != other { throw differs(.reportsDiffer, "reports: \(one) and \(other).") }
    }

    func use(
        _ store: URL, _ version: any VersionedSchema.Type, _ body: (ModelContainer) throws -> Void
    ) throws {
        var configuration = ModelConfiguration(url: store)
        configuration.options.durability = .async
        let container = try ModelContainer(
            for: Schema(versionedSchema: version), migrationPlan: plan, configurations: configuration)
        do { try body(container) } catch {
            try? container.close()
            throw error
        }
        try container.close()
    }
}

/// The sums of a path's reports, for any number of openings.
private struct ReportCounts: Equatable, CustomStringConvertible {
    let description: String

    init(_ reports: [MigrationReport]) {
        func sum(_ name: String, _ count: (MigrationReport) -> Int) -> String {
            "\(reports.map(count).reduce(0, +)) \(name)"
        }
        description = [
            sum("read") { $0.objectsRead }, sum("written") { $0.objectsWritten }, sum("found") { $0.objectsFound },
            sum("dropped") { $0.objectsDropped }, sum("deleted") { $0.objectsDeleted },
            sum("blobs moved") { $0.blobsMoved }, sum("left behind") { $0.blobsLeftBehind },
            sum("not saved") { $0.changesNotSaved },
        ].joined(separator: ", ")
    }
}
