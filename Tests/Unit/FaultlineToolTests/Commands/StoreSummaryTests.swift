import Faultline
import FaultlineTool
import Testing

struct StoreSummaryTests {
    private let shelves: ShelfStore

    init() throws { shelves = try ShelfStore() }

    @Test func writesForPeople() async throws {
        let result = try await #require(
            processExitsWith: .success, observing: [\.standardOutputContent]
        ) { [store = shelves.path as String] in
            runFaultlineTool(["info", store])
        }
        // The last line has this machine's free space.
        let lines = text(result.standardOutputContent).split(separator: "\n", omittingEmptySubsequences: false)
        #expect(
            lines.dropLast(2).joined(separator: "\n") == """
                \(shelves.path)
                schema version 1.0.0, transaction 2
                closed cleanly
                not open for writing; no pins

                entity    objects      rows  blobs  out of rows  share
                ────────  ───────  ────────  ─────  ───────────  ─────
                Volume         30  2.34 KiB     30     2.86 MiB  100 %
                Shelf          10     480 B      0          0 B    0 %
                (engine)           5.24 KiB                        0 %

                files          count     bytes      live  live share
                ─────────────  ─────  ────────  ────────  ──────────
                hot segments       1  8.41 KiB  8.05 KiB        96 %
                blob segments      1  2.87 MiB  2.86 MiB       100 %
                all segments       2  2.87 MiB  2.87 MiB       100 %
                checkpoints        1  20.1 KiB
                index runs         2     912 B
                manifest           1  1.40 KiB
                in all                2.90 MiB
                """)
        #expect(lines.dropLast().last?.hasSuffix(" free on the file system") == true)
    }

    @Test func writesForScripts() async throws {
        let result = try await #require(
            processExitsWith: .success, observing: [\.standardOutputContent]
        ) { [store = shelves.path as String] in
            runFaultlineTool(["info", store, "--json"])
        }
        let summary = try lastLine(result.standardOutputContent)
        let entities = try #require(summary["entities"] as? [[String: Any]])
        let volume = try #require(entities.first { $0["name"] as? String == "Volume" })
        #expect(volume["objects"] as? Int == 30)
        #expect(volume["blobs"] as? Int == 30)
        #expect(volume["blob_bytes"] as? Int == 3_000_000)
        #expect(volume["row_bytes"] as? Int ?? 0 > 30 * 50)
        #expect(summary["blobs"] as? Int == 30)
        #expect(summary["live_share"] as? Double ?? 0 > 0.9)
        #expect((summary["segments"] as? [[String: Any]])?.count == 2)
        #expect((summary["open"] as? [String: Any])?["clean"] as? Bool == true)
        #expect(summary["writer"] is NSNull)
        #expect((summary["pins"] as? [Any])?.isEmpty == true)
        #expect(summary["free_bytes"] as? Int ?? 0 > 0)
    }

    @Test func leavesOutWhatTakesReading() async throws {
        let result = try await #require(
            processExitsWith: .success, observing: [\.standardOutputContent]
        ) { [store = shelves.path as String] in
            runFaultlineTool(["info", store, "--quick", "--json"])
        }
        let summary = try lastLine(result.standardOutputContent)
        let entities = try #require(summary["entities"] as? [[String: Any]])
        #expect(entities.compactMap { $0["objects"] as? Int }.sorted() == [10, 30])
        #expect(entities.allSatisfy { $0["row_bytes"] is NSNull })
        #expect(summary["live_bytes"] is NSNull)
        #expect(summary["live_share"] is NSNull)
    }

    @Test func saysWhoHasTheStoreOpen() async throws {
        let container = try ShelfStore.container(shelves.path)
        defer { try? container.close() }
        let result = try await #require(
            processExitsWith: .success, observing: [\.standardOutputContent]
        ) { [store = shelves.path as String] in
            runFaultlineTool(["info", store])
            runFaultlineTool(["info", store, "--json"])
        }
        let output = text(result.standardOutputContent)
        #expect(output.contains("open for writing by process \(ProcessInfo.processInfo.processIdentifier) on "))
        let summary = try lastLine(Array(try #require(output.split(separator: "\n").last).utf8))
        #expect((summary["writer"] as? String)?.hasPrefix("process ") == true)
        #expect(summary["pins"] is NSNull)
    }

    @Test func countsWhatCanBeReadOfADamagedStore() async throws {
        try shelves.rot(Data("volume-3-1".utf8), inFilesOf: "s-")
        let result = try await #require(
            processExitsWith: .exitCode(1), observing: [\.standardOutputContent]
        ) { [store = shelves.path as String] in
            runFaultlineTool(["info", store, "--json"])
        }
        let entities = try #require(try lastLine(result.standardOutputContent)["entities"] as? [[String: Any]])
        let volume = try #require(entities.first { $0["name"] as? String == "Volume" })
        #expect(volume["objects"] as? Int == 30)
        #expect(volume["unreadable"] as? Int == 1)
        #expect(volume["blob_bytes"] as? Int == 2_900_000)
    }

    @Test func saysWhatRecoverySetAside() async throws {
        try FileManager.default.createDirectory(
            atPath: shelves.path + "/quarantine", withIntermediateDirectories: false)
        try Data(count: 2_048).write(to: URL(filePath: shelves.path + "/quarantine/m-00000000000000ff.flm"))
        let result = try await #require(
            processExitsWith: .success, observing: [\.standardOutputContent]
        ) { [store = shelves.path as String] in
            runFaultlineTool(["info", store])
            runFaultlineTool(["info", store, "--json"])
        }
        #expect(text(result.standardOutputContent).contains("1 file of 2.00 KiB is in quarantine/"))
        let line = try #require(text(result.standardOutputContent).split(separator: "\n").last)
        let quarantine = try #require(try lastLine(Array(line.utf8))["quarantine"] as? [String: Int])
        #expect(quarantine == ["count": 1, "bytes": 2_048])
    }

    @Test func readsWhatLockSays() {
        #expect(
            WriterText.text("process 17 on db-1 since 1700000000 s after 1970    ")
                == "process 17 on db-1 since 2023-11-14T22:13:20Z")
        #expect(WriterText.text("editor since 99999999999999999999 s after 1970").hasPrefix("editor since 999"))
        #expect(WriterText.text("") == "another process")
    }
}
