import FaultlineDisk
import FaultlineLog
import FaultlineRepair
import FaultlineTestSupport
import Testing

struct LookUpTests {
    /// Entries of a large transaction go to runs before it ends.
    @Test func findsSpilledEntries() throws {
        var options = Store.options
        options.memoryBudget = 1 << 20
        options.frameByteCount = 20_000
        let log = try Store().open(options)
        _ = try log.write(author: nil) { transaction in
            for number in 0..<6_000 {
                let key = row(number, byteCount: 24)
                let before = try transaction.firstID(key)
                #expect(before == nil)
                _ = try transaction.insert(key)
                let after = try transaction.firstID(key)
                #expect(after == UInt64(number + 1))
            }
            #expect(try transaction.firstID(row(17, byteCount: 24)) == 18)
        }
        #expect(try log.findings().isEmpty)
    }

    @Test func saysWhatCannotBeRead() throws {
        let store = Store()
        let log = try store.open()
        let ids = try log.insert((0..<2_000).map { row($0) })
        try log.checkpoint()
        let path = try #require(store.files(.indexRun).first)
        let bytes = try store.disk.contents(path)
        // All but the header and the footer.
        try store.disk.overwrite(path, at: 64, [UInt8](repeating: 0x55, count: bytes.count - 192))
        #expect(code { _ = try log.snapshot().firstID(row(5)) } == .damaged)
        #expect(code { _ = try log.write(author: nil) { _ = try $0.firstID(row(5)) } } == .damaged)
        #expect(!(try log.findings().isEmpty))
        // The remedy in the error.
        try log.close()
        try store.disk.replace(path, with: [])
        let again = try store.open()
        #expect(again.openReport.ignoredDerivedFiles.count == 1)
        #expect(try again.snapshot().firstID(row(5)) == ids[5])
        #expect(try again.findings().map(\.path) == [path])
        try again.checkpoint()
        // An unlisted file is removed at the next opening.
        #expect(try again.findings().allSatisfy { $0.kind == .leftover })
    }
}
