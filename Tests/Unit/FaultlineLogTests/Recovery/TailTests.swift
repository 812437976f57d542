import FaultlineDisk
import FaultlineLog
import FaultlineRepair
import FaultlineTestSupport
import Testing

struct TailTests {
    /// A store with transactions of one object each, not closed.
    private func killedStore(_ count: Int) throws -> Store {
        let store = Store()
        let log = try store.open()
        for number in 0..<count { try log.insert([row(number)]) }
        log.abandonForTests()
        return store.killed
    }

    private func hotPath(_ store: Store) throws -> String { try #require(store.files(.hotSegment).last) }

    @Test func takesATornTailForWhatItIs() throws {
        let store = try killedStore(5)
        let path = try hotPath(store)
        let whole = try store.disk.contents(path)
        for cut in stride(from: whole.count - 1, through: whole.count - 100, by: -7) {
            let torn = store.killed
            try torn.disk.replace(path, with: Array(whole[..<cut]))
            let log = try torn.open()
            #expect(log.snapshot().sequence == 4)
            #expect(log.openReport.discardedByteCount > 0)
            #expect(try log.findings().isEmpty)
            // The old file is neither truncated nor appended to.
            #expect(try torn.disk.contents(path).count == cut)
        }
    }

    @Test func refusesRotAndSaysWhere() throws {
        let store = try killedStore(5)
        let path = try hotPath(store)
        try store.disk.overwrite(path, at: 64 + 48 + 30, [0xFF])
        do {
            _ = try store.open()
            Issue.record("rot was taken for a torn tail")
        } catch let error as LogError {
            #expect(error.code == .damaged)
            #expect(error.path == path)
            #expect(error.offset == 64)
        }
    }

    @Test func copiesTheLastGroupIntoAFreshSegment() throws {
        let store = try killedStore(3)
        try store.tear()
        let path = try hotPath(store)
        let before = try store.disk.contents(path)
        let log = try store.open()
        #expect(log.openReport.rescuedTransactionCount == 1)
        let files = store.files(.hotSegment)
        #expect(files.count == 2)
        #expect(try store.disk.contents(path) == before)
        #expect(log.snapshot().sequence == 3)
        // It reads from the copy: the old file's tail may be lost.
        let size = before.count - 30
        try store.disk.overwrite(path, at: size - 150, [UInt8](repeating: 0, count: 150))
        for number in 0..<3 { #expect(try log.snapshot().row(UInt64(number + 1)) == row(number)) }
        #expect(try store.killed.open().snapshot().sequence == 3)
    }

    @Test func seesThatTheManifestLostAnEdit() throws {
        var options = Store.options
        options.segmentByteCount = 300
        let store = Store()
        let log = try store.open(options)
        for number in 0..<6 { try log.insert([row(number)]) }
        log.abandonForTests()
        let manifest = try #require(store.files(.manifest).last)
        let bytes = try store.disk.contents(manifest)
        // The last edit listed the newest segment.
        try store.disk.replace(manifest, with: Array(bytes[..<(bytes.count - 8)]))
        #expect(store.openingCode(options) == .damaged)
    }

    /// A loss may be accepted at the end of the log only.
    @Test(arguments: [false, true]) func refusesASealedSegmentWithoutItsEnd(acceptsLostTail: Bool) throws {
        let store = Store()
        let log = try store.open()
        for number in 0..<4 { try log.insert([row(number)]) }
        try log.checkpoint()
        log.abandonForTests()
        // Recovery seals the segment, and the next one gets no frame.
        let found = store.killed
        try found.tear()
        try found.open().abandonForTests()
        let path = try #require(found.files(.hotSegment).first)
        found.disk.flip(bit: try (found.disk.contents(path).count - 50) * 8, of: path)
        var options = Store.options
        options.ignoresDerivedFiles = true
        options.acceptsLostTail = acceptsLostTail
        #expect(found.files(.hotSegment).count == 2)
        let error = #expect(throws: LogError.self) { try found.open(options).abandonForTests() }
        #expect(error?.code == .damaged && error?.path == path)
    }

    @Test func refusesALogWithoutOneOfItsSegments() throws {
        var options = Store.options
        options.segmentByteCount = 300
        let store = Store()
        let log = try store.open(options)
        for number in 0..<12 { try log.insert([row(number)]) }
        let storeID = log.storeID
        log.abandonForTests()
        let hot = store.files(.hotSegment).compactMap { $0.split(separator: "/").last }.compactMap {
            FileName.parse(String($0))?.number
        }
        #expect(hot.count > 3)
        let directory = StoreDirectory(
            disk: store.disk, path: Store.path, storeID: StoreID(high: storeID.0, low: storeID.1), nextNumber: 1_000,
            random: RandomSource(seed: 1))
        let manifests = try store.disk.names(in: Store.path).compactMap { FileName.parse($0) }
            .filter { $0.kind == .manifest }.map(\.number)
        let reading = try #require(try ManifestReader.newest(manifests, in: directory, for: .updating))
        var state = reading.state
        let isDropped = state.apply(.fileDropped(number: hot[1]))
        #expect(isDropped)
        _ = try Manifest(
            state, in: directory, rotation: Manifest.Rotation(options), replacing: reading.predecessor)
        #expect(store.openingCode(options) == .damaged)
    }

    @Test func goesOnElsewhereBehindBytesThatAreNoFrame() throws {
        let store = Store()
        var log = try store.open()
        try log.insert([row(1)])
        try log.close()
        let path = try hotPath(store)
        try store.disk.overwrite(path, at: store.disk.contents(path).count, [UInt8](repeating: 7, count: 30))
        let before = try store.disk.contents(path)
        log = try store.open()
        #expect(!log.openReport.wasClean && log.openReport.discardedByteCount == 30)
        try log.insert([row(2)])
        #expect(try store.disk.contents(path) == before)
        #expect(store.files(.hotSegment).count == 2)
        try log.close()
    }

    @Test func losesNothingAcknowledgedToAnyChangedByte() throws {
        var options = Store.options
        options.segmentByteCount = 1_200
        options.frameByteCount = 400
        options.isCompressingBlobs = false
        let store = Store()
        let log = try store.open(options)
        let blob = [UInt8](repeating: 3, count: 600)
        var ids: [RecordID] = []
        for number in 0..<4 { ids += try log.insert((0..<4).map { row(number * 4 + $0) }) }
        let blobID = try log.write(author: nil) { transaction in
            try blob.withUnsafeBytes { try transaction.putBlob($0, owner: BlobOwner(table: testTable, slot: 0, id: 1)) }
        }.value
        try log.checkpoint()
        for number in 4..<8 { ids += try log.insert((0..<4).map { row(number * 4 + $0) }) }
        log.abandonForTests()
        let last = UInt64(9)

        var outcomes: [String: Int] = [:]
        for path in store.disk.filePaths where !path.hasSuffix("LOCK") {
            let original = try store.disk.contents(path)
            // Some bytes. `make bitflips` changes every bit of stores of all kinds.
            for offset in stride(from: 0, to: original.count, by: TestSize.of(3, unoptimized: 11)) {
                let flipped = store.killed
                try flipped.disk.overwrite(path, at: offset, [original[offset] ^ (1 << UInt8(offset % 8))])
                let outcome = try Self.outcome(flipped, options, ids, blobID, blob, last)
                outcomes[outcome, default: 0] += 1
                #expect(!outcome.hasPrefix("!"), "\(path), byte \(offset): \(outcome)")
            }
        }
        // Each result occurs often enough, or the test covers too little.
        let least = TestSize.of(32, unoptimized: 8)
        #expect((outcomes["same"] ?? 0) > least)
        #expect((outcomes["refused"] ?? 0) > least)
        #expect((outcomes["reported"] ?? 0) > least)
        #expect((outcomes["torn"] ?? 0) > least / 2)
    }

    /// The result for a store with one changed byte: it is refused, reports damage, has lost the group behind the last
    /// watermark, or is the same.
    private static func outcome(
        _ store: Store, _ options: LogOptions, _ ids: [RecordID], _ blobID: RecordID, _ blob: [UInt8], _ last: UInt64
    ) throws -> String {
        do {
            let log = try store.open(options)
            let snapshot = log.snapshot()
            guard snapshot.sequence >= last - 1, snapshot.sequence <= last else {
                return "!lost: at \(snapshot.sequence)"
            }
            let expected = snapshot.sequence == last ? ids.count : ids.count - 4
            guard snapshot.recordCount(of: testTable) == expected else {
                return "!count \(snapshot.recordCount(of: testTable))"
            }
            for (number, id) in ids.prefix(expected).enumerated() {
                guard try snapshot.row(id) == row(number) else { return "!object \(id)" }
                guard try snapshot.firstID(row(number)) == id else { return "!index entry of \(id)" }
            }
            guard try snapshot.blob(blobID) == blob else { return "!blob" }
            if snapshot.sequence < last { return "torn" }
            return try log.findings().isEmpty ? "same" : "reported"
        } catch let error as LogError {
            guard error.code == .damaged || error.code == .newerFormat || error.code == .notAStore else {
                return "!\(error)"
            }
            guard error.path != nil else { return "!no path: \(error)" }
            return error.offset == nil ? "refused" : "refused"
        }
    }

    @Test func makesTablesAndIndexesAgainFromTheSegments() throws {
        let store = Store()
        let log = try store.open()
        let ids = try log.insert((0..<2_000).map { row($0) })
        try log.checkpoint()
        _ = try log.write(author: nil) { transaction in
            for id in ids.prefix(100) { try transaction.erase(id) }
            try transaction.put(ids[200], row(5_000))
        }
        try log.close()

        // A checkpoint's footer, a run's footer, each file missing.
        for (kind, isMissing) in [
            (FileKind.tableCheckpoint, false), (.indexRun, false), (.tableCheckpoint, true), (.indexRun, true),
        ] {
            let broken = store.killed
            let path = try #require(broken.files(kind).last)
            if isMissing {
                try broken.disk.remove(path)
            } else {
                try broken.disk.overwrite(path, at: try broken.disk.contents(path).count - 20, [0xAA, 0xBB])
            }
            // Until a checkpoint is made, each opening rebuilds them.
            for round in 0..<2 {
                let killed = try broken.open()
                _ = try killed.write(author: nil) { try $0.put(ids[300], row(6_000 + round)) }
                // Only that file is damaged, and it stays listed until there is a new one.
                #expect(try killed.findings().filter { $0.kind != .leftover && $0.path != path }.isEmpty)
                killed.abandonForTests()
            }
            let log = try broken.open()
            #expect(try log.snapshot().firstID(row(6_001)) == ids[300])
            #expect(try log.snapshot().firstID(row(6_000)) == nil)
            #expect(log.snapshot().recordCount(of: testTable) == 1_900)
            #expect(try log.snapshot().firstID(row(5_000)) == ids[200])
            #expect(try log.snapshot().firstID(row(50)) == nil)
            try log.close()
            let again = try broken.open()
            #expect(again.openReport.ignoredDerivedFiles.isEmpty)
            #expect(again.openReport.wasClean)
            #expect(try again.findings().isEmpty)
        }
        #expect(try store.rebuilt().snapshot().recordCount(of: testTable) == 1_900)
    }
}
