import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Testing

/// Data of a newer version is refused with a reason, and nothing is changed; skippable data is skipped.
struct NewerFormatTests {
    private static let skippable: UInt8 = 1 << 7

    private func store() throws -> (store: Store, segment: String, bytes: FrameBytes) {
        let store = Store()
        let log = try store.open()
        for number in 0..<3 { try log.insert([row(number)]) }
        log.abandonForTests()
        let segment = try #require(store.files(.hotSegment).last)
        return (store.killed, segment, FrameBytes(try store.disk.contents(segment)))
    }

    /// Opens a copy in which a file has other bytes, and compares all files if it is refused.
    private func code(_ store: Store, _ path: String, _ bytes: [UInt8]) throws -> LogError.Code? {
        let changed = store.killed
        try changed.disk.place(bytes, at: path)
        func contents() -> [[UInt8]?] {
            changed.disk.filePaths.filter { !$0.hasSuffix("LOCK") }.map { changed.disk.bytes(of: $0) }
        }
        let before = contents()
        let code = changed.openingCode()
        if code != nil { #expect(contents() == before) }
        return code
    }

    @Test func skipsFramesThatMayBeSkippedAndNoOthers() throws {
        let (store, segment, bytes) = try store()
        for hasMark in [false, true] {
            var skipped = bytes
            skipped.append(kind: 7, flags: Self.skippable, body: [1, 2, 3, 4, 5, 6, 7, 8])
            if hasMark { skipped.append(kind: 5) }
            #expect(try code(store, segment, skipped.bytes) == nil)

            var refused = bytes
            refused.append(kind: 7, body: [1, 2, 3, 4, 5, 6, 7, 8])
            if hasMark { refused.append(kind: 5) }
            #expect(try code(store, segment, refused.bytes) == .newerFormat)
        }
        // All transactions are found, and the frame counts in the chain.
        var skipped = bytes
        skipped.append(kind: 7, flags: Self.skippable, body: [UInt8](repeating: 9, count: 64))
        skipped.append(kind: 5)
        let killed = store.killed
        try killed.disk.place(skipped.bytes, at: segment)
        #expect(try killed.open().snapshot().sequence == 3)
        // Its body is covered by its own checksum.
        var rotten = skipped.bytes
        rotten[bytes.bytes.count + 50] ^= 1
        #expect(try code(store, segment, rotten) == .damaged)
    }

    @Test func refusesAnUnknownFrameWhoseBodyIsTorn() throws {
        var (store, segment, bytes) = try store()
        bytes.append(kind: 9, body: [UInt8](repeating: 9, count: 64))
        #expect(try code(store, segment, Array(bytes.bytes.dropLast(30))) == .newerFormat)
        // Kind 0 is no kind.
        var none = try self.store().bytes
        none.append(kind: 0)
        #expect(try code(store, segment, none.bytes) == nil)
    }

    @Test func takesNoHeadForOneThatNamesMoreThanWasWritten() throws {
        // Bytes behind a torn frame that look like a header by chance must not count as damage.
        var (store, segment, bytes) = try store()
        bytes.append(kind: 5)
        let end = bytes.bytes.count
        bytes.append(kind: 5)
        bytes.changeLastHeader(24 + 7, to: 0x40)
        var torn = bytes.bytes
        torn[end - 40] ^= 1
        #expect(try code(store, segment, torn) == nil)
    }

    @Test(arguments: 0..<5) func refusesAnUnknownFrameFlag(bit: Int) throws {
        var (store, segment, bytes) = try store()
        bytes.append(kind: 5, flags: 1 << UInt8(bit))
        #expect(try code(store, segment, bytes.bytes) == .newerFormat)
    }

    @Test(arguments: 4..<8) func refusesAnUnknownRecordFlag(bit: Int) throws {
        var (store, segment, bytes) = try store()
        bytes.changeLastRecord(0, at: 23, to: 1 << UInt8(bit))
        #expect(try code(store, segment, bytes.bytes) == .newerFormat)

        // Also if the record is read by its location, behind a checkpoint.
        let log = try store.open()
        try log.checkpoint()
        let path = try #require(store.files(.hotSegment).last)
        var moved = FrameBytes(try store.disk.contents(path))
        moved.changeLastRecord(0, at: 23, to: 1 << UInt8(bit))
        try store.disk.overwrite(path, at: 0, moved.bytes)
        let error = #expect(throws: LogError.self) { _ = try log.snapshot().row(3) }
        #expect(error?.code == .newerFormat)
    }

    @Test(arguments: [8, 200] as [UInt8]) func refusesAnUnknownOperation(operation: UInt8) throws {
        var (store, segment, bytes) = try store()
        bytes.changeLastRecord(0, at: 22, to: operation)
        #expect(try code(store, segment, bytes.bytes) == .newerFormat)
    }

    @Test func refusesAnUnknownEdit() throws {
        let (store, _, _) = try store()
        let path = try #require(store.files(.manifest).last)
        let manifest = FrameBytes(try store.disk.contents(path))
        // The first edits of a snapshot are followed by that of the segment, whose file kind is at 8.
        for (record, offset, value) in [(0, 14, 99), (2, 24 + 8, 77), (2, 24 + 10, 1)] {
            var changed = manifest
            changed.changeLastRecord(record, at: offset, to: UInt8(value))
            #expect(try code(store, path, changed.bytes) == .newerFormat)
        }
        var skipped = manifest
        skipped.append(kind: 7, flags: Self.skippable, body: [UInt8](repeating: 1, count: 24))
        #expect(try code(store, path, skipped.bytes) == nil)
    }

    @Test(arguments: 0..<8) func refusesALocationWithAFlag(bit: Int) throws {
        let store = Store()
        let log = try store.open()
        try log.insert([row(1), row(2)], in: plainTable)
        try log.close()
        let path = try #require(store.files(.tableCheckpoint).last)
        var bytes = try store.disk.contents(path)
        let start = 4_096
        // Of the second object: segment 4, offset 4, size 3, flags 1.
        bytes[start + 64 + 12 + 11] |= 1 << UInt8(bit)
        let place = withUnsafeBytes(of: UInt64(start).littleEndian) { Array($0) }
        let seed = (Array(bytes[40..<48]) + Array(bytes[32..<40]) + place).withUnsafeBytes { CRC32C.checksum($0) }
        let checksum = bytes[start + 4..<start + 4_096].withUnsafeBytes { CRC32C.checksum($0, seed: seed) }
        withUnsafeBytes(of: checksum.littleEndian) { bytes.replaceSubrange(start..<start + 4, with: $0) }
        try store.disk.place(bytes, at: path)

        let error = #expect(throws: LogError.self) {
            let log = try store.open()
            defer { log.abandonForTests() }
            _ = try log.snapshot().row(1, in: plainTable)
        }
        #expect(error?.code == .newerFormat && error?.path == path && error?.offset == UInt64(start))
    }
}
