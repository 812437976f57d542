import Faultline
import FaultlineCommands
import FaultlineLog
import FaultlineTool
import Testing

/// Blobs that no row refers to: they are counted, and are no damage.
struct OrphanTests {
    private let shelves: ShelfStore

    init() throws { shelves = try ShelfStore() }

    /// Writes blobs that no row names.
    private func leave(_ byteCounts: [Int], keepsState: Bool = false) throws {
        let (log, _) = try OpenedStore.openForWriting(shelves.path)
        _ = try log.write(author: nil) { transaction in
            for byteCount in byteCounts {
                let bytes = [UInt8](ShelfStore.pages(77, byteCount)).prefix(byteCount)
                _ = try bytes.withUnsafeBytes {
                    try transaction.putBlob($0, owner: BlobOwner(table: TableID(rawValue: 16), slot: 0, id: 1))
                }
            }
        }
        if keepsState { try log.keepState(for: 3_600_000_000_000) }
        try log.close()
    }

    private func verify(json: Bool = true) async throws -> [UInt8] {
        let result = try await #require(
            processExitsWith: .success, observing: [\.standardOutputContent]
        ) { [store = shelves.path as String, json = json as Bool] in
            runFaultlineTool(["verify", store] + (json ? ["--json"] : []))
        }
        return result.standardOutputContent
    }

    @Test func aStoreOfRowsHasNone() async throws {
        let line = try lastLine(await verify())
        #expect(line["orphans"] as? Int == 0 && line["orphan_bytes"] as? Int == 0)
        #expect(try !text(await verify(json: false)).contains("orphan"))
    }

    @Test(arguments: [false, true]) func areCountedWithWhatHoldsThem(isKept: Bool) async throws {
        try leave([10_000, 20_000], keepsState: isKept)
        let line = try lastLine(await verify())
        #expect(line["verify"] as? String == "ok")
        #expect(line["orphans"] as? Int == 2)
        let byteCount = try #require(line["orphan_bytes"] as? Int)
        #expect((30_000..<31_000).contains(byteCount))
        #expect(line["held_orphans"] as? Int == (isKept ? 2 : 0))
        #expect(line["held_orphan_bytes"] as? Int == (isKept ? byteCount : 0))
        let output = try text(await verify(json: false))
        #expect(output.contains("orphans: 2 blobs of 29"))
        #expect(output.contains("holds 2") == isKept)
        #expect(output.contains("sound"))
    }

    /// A window of few blobs, for the code that reads very many in windows.
    @Test func areFoundWindowByWindow() throws {
        try leave([5_000, 6_000, 7_000])
        let store = try OpenedStore(shelves.path)
        var search = OrphanSearch(end: store.snapshot.nextID(of: .blobs), windowCount: 7)
        var found: [RecordID] = []
        var windowCount = 0
        repeat {
            windowCount += 1
            for blob in RecordID(1)...30 { search.mark(blob) }
            try search.forEachUnmarked(in: store.snapshot) { blob, _ in found.append(blob) }
        } while search.advance()
        #expect(found == [31, 32, 33])
        #expect(windowCount == 5)
    }
}
