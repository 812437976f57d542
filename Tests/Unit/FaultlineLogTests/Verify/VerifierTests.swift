import FaultlineDisk
import FaultlineLog
import FaultlineRepair
import FaultlineTestSupport
import Testing

struct VerifierTests {
    /// A closed store with every kind of data.
    private func filledStore() throws -> Store {
        let store = Store()
        let log = try store.open()
        try log.insert((0..<700).map { row($0) })
        _ = try log.write(author: nil) { transaction in
            _ = try [UInt8](repeating: 1, count: 3_000).withUnsafeBytes {
                try transaction.putBlob($0, owner: BlobOwner(table: testTable, slot: 0, id: 1))
            }
        }
        try log.close()
        return store
    }

    @Test func findsNothingInAGoodStoreAndReportsProgress() throws {
        let log = try filledStore().open()
        var last: (UInt64, UInt64) = (0, 1)
        var calls = 0
        try log.verify(
            { Issue.record("\($0)") },
            progress: { done, total in
                #expect(done >= last.0 && done <= total)
                last = (done, total)
                calls += 1
            })
        #expect(last.0 == last.1 && calls > 2)
    }

    @Test func findsDamageInEveryKindOfFile() throws {
        for kind in [FileKind.hotSegment, .blobSegment, .tableCheckpoint, .indexRun] {
            let store = try filledStore()
            let path = try #require(store.files(kind).first)
            let log = try store.open()
            // While the store is open: the opening cannot detect it.
            let offset =
                switch kind {
                case .tableCheckpoint: 4_096 + 200
                case .blobSegment: 64 + 48 + 24 + 48 + 20
                default: 64 + 150
                }
            let old = try store.disk.contents(path)[offset]
            try store.disk.overwrite(path, at: offset, [old ^ 0x10])
            let findings = try log.findings()
            #expect(!findings.isEmpty, "\(kind)")
            #expect(findings.contains { $0.path == path || $0.kind == .contradiction }, "\(kind): \(findings)")
        }
    }

    @Test func callsAnErrorOfTheDiskNoDamage() throws {
        let store = try filledStore()
        let disk = FailingDisk(over: store.disk)
        let log = try store.open(on: disk)
        var ordinal = 0
        while true {
            disk.arm(DiskFault(of: [.read], on: "/r-", ordinal: ordinal))
            var findings: [Finding] = []
            var code: LogError.Code?
            do {
                try log.verify({ findings.append($0) }, progress: { _, _ in })
            } catch {
                code = error.code
            }
            #expect(findings.isEmpty, "\(ordinal)")
            #expect((code == .failedDisk) == (disk.hitCount > 0), "\(ordinal)")
            if disk.hitCount == 0 { break }
            ordinal += 1
        }
        #expect(ordinal > 1)
    }

    /// The segment of a copy of the store that was written to separately: all of it verifies, and it has the same
    /// length.
    @Test func findsFramesThatTheManifestDoesNotKnow() throws {
        let store = Store()
        try store.open().insert([row(1)], in: plainTable)
        let copy = store.killed
        var segments: [[UInt8]] = []
        for (store, number) in [(store.killed, 2), (copy, 3)] {
            let log = try store.open()
            try log.insert([row(number)], in: plainTable)
            try log.close()
            segments.append(try store.disk.contents(try #require(store.files(.hotSegment).last)))
        }
        #expect(segments[0].count == segments[1].count && segments[0] != segments[1])
        let path = try #require(copy.files(.hotSegment).last)
        try copy.disk.overwrite(path, at: 0, segments[0])
        let log = try copy.open()
        // The opening seems right; only the content is wrong.
        #expect(log.openReport.wasClean)
        #expect(try log.snapshot().row(2, in: plainTable) == row(2))
        let findings = try log.findings()
        #expect(findings.map(\.kind) == [.damage] && findings.first?.path == path)
        #expect(findings.first?.offset == UInt64(segments[0].count))
        log.abandonForTests()
    }

    @Test func findsADamagedCopyOfTheIdentity() throws {
        let store = try filledStore()
        let log = try store.open()
        try store.disk.overwrite(Store.path + "/IDENTITY", at: 4_096 + 30, [1])
        #expect(try log.findings().contains { $0.path?.hasSuffix("IDENTITY") == true })
    }

    @Test func findsMissingAndLeftOverFiles() throws {
        let store = try filledStore()
        let log = try store.open()
        let run = try #require(store.files(.indexRun).first)
        let bytes = try store.disk.contents(run)
        try store.disk.replace(Store.path + "/r-00000000000000aa.flr", with: bytes)
        #expect(try log.findings().map(\.kind) == [.leftover])
        try store.disk.remove(run)
        #expect(try log.findings().contains { $0.kind == .damage && $0.path == run })
    }

    @Test func findsAnIndexThatDisagreesWithItsRecords() throws {
        let log = try Store().open()
        _ = try log.write(author: nil) { transaction in
            try transaction.put(1, in: testTable, layout: 1, changed: nil, flags: [], byteCount: 20) {
                $0.copyBytes(from: row(1))
            }
        }
        // No entry for a record.
        #expect(try log.findings().contains { $0.kind == .contradiction && $0.id == 1 })
        _ = try log.write(author: nil) { transaction in
            try row(1).withUnsafeBytes { try transaction.insertEntry(WholeRowDeriver.index, key: $0, id: 1) }
            try transaction.put(9, in: plainTable, layout: 1, changed: nil, flags: [], byteCount: 0) { _ in }
        }
        #expect(try log.findings().isEmpty)
        // An entry without a record.
        _ = try log.write(author: nil) { transaction in
            try row(2).withUnsafeBytes { try transaction.insertEntry(WholeRowDeriver.index, key: $0, id: 1) }
            try transaction.put(10, in: plainTable, layout: 1, changed: nil, flags: [], byteCount: 0) { _ in }
        }
        #expect(try log.findings().map(\.kind) == [.contradiction])
    }

    /// In an index that is not unique the newest entry of a key does not show which other objects have it.
    @Test func findsObjectsThatShareAKey() throws {
        let log = try Store().open(deriver: SharedKeyDeriver())
        let index = SharedKeyDeriver.index
        for part in 0..<3 {
            for number in 0..<40 {
                _ = try log.write(author: nil) { transaction in
                    let id = try transaction.allocateIDs(1, in: testTable)
                    let key = [7, UInt8(number % 3)]
                    try transaction.put(id, in: testTable, layout: 1, changed: nil, flags: [], byteCount: 2) {
                        $0.copyBytes(from: key)
                    }
                    try key.withUnsafeBytes { try transaction.insertEntry(index, key: $0, id: id) }
                    guard number % 4 == 3 else { return }
                    // The last entry of each key is a delete.
                    for gone in [id, id - 2] {
                        let row = try transaction.record(gone, in: testTable) { Array($0.row) }
                        guard let row else { continue }
                        try row.withUnsafeBytes { try transaction.removeEntry(index, key: $0, id: gone) }
                        try transaction.delete(gone, in: testTable)
                    }
                }
            }
            #expect(try log.findings().isEmpty)
            if part < 2 { try log.checkpoint() }
        }
        // By the index no object has the key, but a record does.
        _ = try log.write(author: nil) { transaction in
            try transaction.put(1_000, in: testTable, layout: 1, changed: nil, flags: [], byteCount: 2) {
                $0.copyBytes(from: [7, 9])
            }
        }
        #expect(try log.findings().contains { $0.kind == .contradiction && $0.id == 1_000 })
    }
}

/// Each row is a key that other rows may have, too.
private final class SharedKeyDeriver: IndexDeriver {
    static let index = IndexDefinition(id: IndexID(rawValue: 1), isUnique: false, searchPrefix: .bytes(1))

    func catalogChanged(_ read: (RecordID) throws(LogError) -> [UInt8]?) throws(LogError) {}
    func indexes(of table: TableID) -> [IndexDefinition] { table == testTable ? [Self.index] : [] }
    func deriveEntries(
        table: TableID, layout: UInt16, id: RecordID, row: UnsafeRawBufferPointer, hasExtension: Bool,
        emit: (IndexID, UnsafeRawBufferPointer) -> Void
    ) {
        emit(Self.index.id, row)
    }
}
