import Faultline
import FaultlineTestSupport
import FaultlineTesting
import Testing

@Suite struct MigrationTestKitTests {
    private let folder = TemporaryDirectory()

    private func kit(_ plan: any SchemaMigrationPlan.Type) -> MigrationTestKit {
        MigrationTestKit(plan, goldenStores: URL(filePath: "\(folder.path)/golden", directoryHint: .isDirectory))
    }

    private func fill(_ version: any VersionedSchema.Type, _ context: ModelContext) {
        for number in 0..<3 {
            switch version {
            case is Library1.Type: context.insert(Library1.Book(title: "Title \(number)"))
            case is Library2.Type: context.insert(Library2.Book(title: "Title \(number)"))
            default: context.insert(Library3.Book(name: "Title \(number)", initial: "T"))
            }
        }
    }

    private func failure(_ plan: any SchemaMigrationPlan.Type) -> MigrationTestError? {
        do { try kit(plan).run() } catch { return error as? MigrationTestError }
        return nil
    }

    @Test func `M15 (realm-swift#3777): stores of all versions are made once, and brought along every path`() throws {
        let kit = kit(LibraryPlan.self)
        let made = try kit.makeGoldenStores(isMaking: true, fill: fill)
        #expect(made.map(\.description) == ["1.0.0", "2.0.0", "3.0.0"])
        #expect(try kit.makeGoldenStores(isMaking: true, fill: fill) == [])
        let files = try FileManager.default.contentsOfDirectory(atPath: "\(folder.path)/golden/1.0.0.store")
        #expect(files.contains("IDENTITY") && !files.contains("LOCK"))
        var seen: [String: Int] = [:]
        let paths = try kit.run { version, context in
            seen["\(version.versionIdentifier)", default: 0] += 1
            guard version is Library3.Type else { return }
            let books = try context.fetch(FetchDescriptor<Library3.Book>())
            #expect(books.map(\.name).sorted() == ["Title 0", "Title 1", "Title 2"])
            #expect(books.allSatisfy { $0.initial == "T" && $0.pages == 1 })
        }
        #expect(
            paths.map { "\($0.from)-\($0.to)" } == [
                "1.0.0-1.0.0", "1.0.0-2.0.0", "1.0.0-3.0.0", "2.0.0-2.0.0", "2.0.0-3.0.0", "3.0.0-3.0.0",
            ])
        #expect(paths.map(\.report.objectsWritten) == [0, 0, 3, 0, 3, 0])
        #expect(seen == ["1.0.0": 1, "2.0.0": 2, "3.0.0": 3])
        // The golden stores are unchanged.
        #expect(try kit.run().map(\.report.versions) == paths.map(\.report.versions))
    }

    @Test func `a store that is missing is named, and not made unasked`() throws {
        #expect(failure(LibraryPlan.self)?.code == .missing)
        #expect(throws: MigrationTestError.self) {
            try kit(LibraryPlan.self).makeGoldenStores(isMaking: false, fill: fill)
        }
        let error = failure(LibraryPlan.self)
        #expect(error?.from == Schema.Version(1, 0, 0) && error?.message.contains("1.0.0") == true)
    }

    @Test func `a path that fails is named, with the cause`() throws {
        try kit(LibraryPlan.self).makeGoldenStores(isMaking: true, fill: fill)
        let error = failure(FailingLibraryPlan.self)
        #expect(error?.code == .failed && error?.from == Schema.Version(1, 0, 0))
        #expect(error?.to == Schema.Version(3, 0, 0) && error?.cause is MigrationError)
    }

    @Test func `a release that cannot read an older one's files is found`() throws {
        try kit(LibraryPlan.self).makeGoldenStores(isMaking: true, fill: fill)
        let store = "\(folder.path)/golden/2.0.0.store"
        let names = try FileManager.default.contentsOfDirectory(atPath: store)
        let segment = try #require(names.first { $0.hasPrefix("s-") })
        var bytes = try Data(contentsOf: URL(filePath: "\(store)/\(segment)"))
        bytes[4] ^= 1
        try bytes.write(to: URL(filePath: "\(store)/\(segment)"))
        #expect(failure(LibraryPlan.self)?.from == Schema.Version(2, 0, 0))
    }

    @Test func `a stage whose outcome depends on earlier work is found`() throws {
        try kit(LibraryPlan.self).makeGoldenStores(isMaking: true, fill: fill)
        let error = CountingLibraryPlan.calls.withValue(Calls()) { failure(CountingLibraryPlan.self) }
        #expect(error?.code == .contentsDiffer)
        #expect(error?.message.contains("Book[0]") == true)
    }

    @Test func `stages that write more one after the other than at once are found`() throws {
        try kit(LibraryPlan.self).makeGoldenStores(isMaking: true, fill: fill)
        let error = CountingLibraryPlan.calls.withValue(Calls()) { failure(SavingLibraryPlan.self) }
        #expect(error?.code == .reportsDiffer)
    }

    @Test func `a migration that is stopped at any write is old, or new, and comes to the same`() throws {
        let kit = kit(LibraryPlan.self)
        try kit.makeGoldenStores(isMaking: true, fill: fill)
        let stops = try kit.stopAtWrites()
        #expect(stops.writes > 10 && stops.stops >= stops.writes - 2, "\(stops)")
        #expect(stops.old > 5 && stops.new > 0 && stops.resumed > 0, "\(stops)")
        #expect(stops.old + stops.new == stops.stops)
        // A path of one lightweight stage, every third write.
        let few = try kit.stopAtWrites(from: Library1.self, to: Library2.self, every: 3)
        #expect(few.writes < stops.writes && few.stops <= few.writes / 3 + 1 && few.stops > 0)
    }

    @Test func `a stage that depends on how often it was begun is found by stopping it`() throws {
        let kit = kit(CountingLibraryPlan.self)
        try kit.makeGoldenStores(isMaking: true, fill: fill)
        let error = #expect(throws: MigrationTestError.self) {
            try CountingLibraryPlan.calls.withValue(Calls()) { try kit.stopAtWrites() }
        }
        #expect(error?.code == .contentsDiffer)
        #expect(error?.message.contains("stopped at write") == true)
    }
}
