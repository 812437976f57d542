import BenchmarkKit
import Foundation
import Testing

@Suite struct RunnerTests {
    /// A store of one file; the workloads write the values they found into `rows`.
    static let base = StartingStore("base") { folder, count in
        try folder.make()
        try Data(count: count).write(to: URL(fileURLWithPath: folder.path + "/file"))
    }

    static let runner = Runner([
        Workload("reads", defaultCount: 5, start: .reading(base)) { run in try result(run) },
        Workload("changes", defaultCount: 5, start: .changing(base)) { run in
            let line = try result(run)
            try Data(count: 1).write(to: URL(fileURLWithPath: run.store.path + "/file"))
            return line
        },
        Workload("makes", defaultCount: 5, start: .nothing) { run in
            var line = ResultLine()
            line.rows = run.store.exists ? 1 : 0
            try base.make(run.store, run.n)
            return line
        },
    ])

    /// The same with a test's own workload.
    static func run(_ workload: Workload, _ folder: String, n: Int) throws -> String? {
        try Runner([workload]).run(Arguments(["--store", folder, "--workload", workload.name, "--n", "\(n)"]))
    }

    static func result(_ run: WorkloadRun) throws -> ResultLine {
        var line = ResultLine()
        line.n = run.n
        line.rows = try Data(contentsOf: URL(fileURLWithPath: run.store.path + "/file")).count
        return line
    }

    static func withFolder(_ body: (String) throws -> Void) throws {
        let folder = NSTemporaryDirectory() + "faultline-kit-\(UUID())"
        defer { try? StoreFolder(folder).remove() }
        try body(folder)
    }

    static func run(_ folder: String, _ words: String...) throws -> String? {
        try runner.run(Arguments(["--store", folder] + words))
    }

    @Test func preparesReadsAndKeepsAStore() throws {
        try Self.withFolder { folder throws in
            #expect(try Self.run(folder, "--workload", "reads", "--prepare") == nil)
            #expect(StoreFolder(folder + "/base-5").exists)

            #expect(try Self.run(folder, "--workload", "reads")?.contains(#""rows":5"#) == true)
            #expect(StoreFolder(folder + "/base-5").exists)
        }
    }

    @Test func givesAChangingWorkloadACopyEachTime() throws {
        try Self.withFolder { folder throws in
            for _ in 0..<2 {
                #expect(try Self.run(folder, "--workload", "changes", "--n", "7")?.contains(#""rows":7"#) == true)
            }
            #expect(try Self.run(folder, "--workload", "reads", "--n", "7")?.contains(#""rows":7"#) == true)
            #expect(!StoreFolder(folder + "/run-changes-7").exists)
        }
    }

    @Test func startsFromNothing() throws {
        try Self.withFolder { folder throws in
            for _ in 0..<2 {
                #expect(try Self.run(folder, "--workload", "makes", "--prepare") == nil)
                #expect(try Self.run(folder, "--workload", "makes")?.contains(#""rows":0"#) == true)
            }
            #expect(!StoreFolder(folder + "/run-makes-5").exists)
        }
    }

    @Test func aFixedNumberOfObjectsIsTheMost() throws {
        let workload = Workload("fixed", defaultCount: 5, isDefaultMost: true, start: .reading(Self.base)) { run in
            try Self.result(run)
        }
        try Self.withFolder { folder throws in
            #expect(try Self.run(workload, folder, n: 1_000)?.contains(#""n":5,"#) == true)
            #expect(try Self.run(workload, folder, n: 3)?.contains(#""n":3,"#) == true)
        }
    }

    @Test func aWriterWritesToTheStoreThatIsBeingPrepared() throws {
        let start = Workload.Start.killed(Self.base) { run in
            try Data(count: run.n + 1).write(to: URL(fileURLWithPath: run.store.path))
        }
        let workload = Workload("killed", defaultCount: 5, start: start) { try Self.result($0) }
        try Self.withFolder { folder throws in
            try StoreFolder(folder).make()
            let words = ["--store", folder, "--workload", "killed", "--write"]
            #expect(try Runner([workload]).run(Arguments(words)) == nil)
            #expect(try Data(contentsOf: URL(fileURLWithPath: folder + "/run-killed-5.part")).count == 6)
            #expect(throws: BenchmarkError.self) { try Self.run(folder, "--workload", "reads", "--write") }
        }
    }

    @Test func makesAnInterruptedStoreAgain() throws {
        try Self.withFolder { folder throws in
            try StoreFolder(folder + "/base-5.part").make()
            try Data(count: 1).write(to: URL(fileURLWithPath: folder + "/base-5.part/stale"))

            #expect(try Self.run(folder, "--workload", "reads")?.contains(#""rows":5"#) == true)
            #expect(!StoreFolder(folder + "/base-5/stale").exists)
        }
    }

    @Test func listsAndNamesWorkloads() throws {
        let list = try Self.runner.run(Arguments(["--list"]))
        #expect(list == "reads\nchanges\nmakes")
        let error = #expect(throws: BenchmarkError.self) { try Self.run("/x", "--workload", "other") }
        #expect(error?.description == "there is no workload other; there are: reads changes makes")
    }

    @Test func copiesWholeTrees() throws {
        try Self.withFolder { folder throws in
            try StoreFolder(folder + "/a/b/c").make()
            let bytes = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
            try bytes.write(to: URL(fileURLWithPath: folder + "/a/b/c/file"))

            try StoreFolder(folder + "/a").copy(to: StoreFolder(folder + "/copy"))

            #expect(try Data(contentsOf: URL(fileURLWithPath: folder + "/copy/b/c/file")) == bytes)
            #expect(StoreFolder(folder + "/copy").diskByteCount >= 3_000_000)
        }
    }
}
