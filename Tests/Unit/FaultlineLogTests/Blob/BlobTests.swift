import FaultlineDisk
import FaultlineLog
import FaultlineRepair
import FaultlineTestSupport
import Testing

struct BlobTests {
    let owner = BlobOwner(table: testTable, slot: 3, id: 9)

    private func bytes(_ count: Int, isCompressible: Bool, _ random: inout Seed) -> [UInt8] {
        isCompressible ? (0..<count).map { UInt8(truncatingIfNeeded: $0 / 100) } : random.bytes(count)
    }

    @Test(arguments: [0, 1, 5_000, 65_535, 65_536, 65_537, 200_000, 3_000_000], [false, true])
    func readsAnyRange(byteCount: Int, isCompressible: Bool) throws {
        var random = Seed(7)
        let store = Store()
        let log = try store.open()
        let bytes = bytes(byteCount, isCompressible: isCompressible, &random)
        let ids = try log.write(author: nil) { transaction in
            let first = try bytes.withUnsafeBytes { try transaction.putBlob($0, owner: owner) }
            func stream(_ count: UInt64?) throws -> RecordID {
                var place = 0
                return try transaction.putBlob(byteCount: count, owner: owner) { target in
                    let part = bytes[place..<min(bytes.count, place + min(target.count, 10_000))]
                    target.copyBytes(from: part)
                    place += part.count
                    return part.count
                }
            }
            return [
                first, try stream(UInt64(byteCount)), try stream(nil), try transaction.copyBlob(first, owner: owner),
            ]
        }.value
        for log in [log, try store.killed.open()] {
            let snapshot = log.snapshot()
            for id in ids {
                #expect(try snapshot.blob(id) == bytes)
                for _ in 0..<5 {
                    let start = random.below(byteCount + 1)
                    let end = start + random.below(byteCount - start + 1)
                    var part = [UInt8](repeating: 0, count: end - start)
                    try part.withUnsafeMutableBytes {
                        try snapshot.readBlob(id, range: UInt64(start)..<UInt64(end), into: $0)
                    }
                    #expect(part == Array(bytes[start..<end]))
                }
            }
        }
    }

    @Test(arguments: [nil, UInt64((64 << 20) + 200_000)]) func writesALargeStreamOnceAndReadsALittleOfIt(
        announced: UInt64?
    ) throws {
        let disk = CountingDisk(over: SimulatedDisk(directories: ["/d"]))
        let log = try Store().open(on: disk)
        let byteCount = (64 << 20) + 200_000
        let (id, writing) = try disk.counting {
            try log.write(author: nil) { transaction in
                var place = 0
                return try transaction.putBlob(byteCount: announced, owner: owner) { target in
                    let count = min(target.count, byteCount - place)
                    target.initializeMemory(as: UInt8.self, repeating: 0)
                    // Every fourth chunk cannot be compressed.
                    for index in 0..<count where (place + index) % 4_096 == 0 || (place + index) >> 16 & 3 == 1 {
                        target[index] = Self.byte(place + index)
                    }
                    place += count
                    return count
                }
            }.value
        }
        let snapshot = log.snapshot()
        let placement = try #require(try snapshot.placement(of: id))
        #expect(UInt64(writing.bytesWritten) < placement.storedByteCount + 10_000)
        #expect(try snapshot.blobByteCount(id) == UInt64(byteCount))
        let path = Store.path + "/" + FileName.numbered(.blobSegment, placement.segment)
        var byte: [UInt8] = [0]
        for place in [0, byteCount - 1, 510 * 65_536 - 1, 510 * 65_536]
            + Array(stride(from: 0, to: byteCount, by: 4_096 * 999))
        {
            let before = disk.counts(of: path)
            try byte.withUnsafeMutableBytes {
                try snapshot.readBlob(id, range: UInt64(place)..<UInt64(place + 1), into: $0)
            }
            let counts = disk.counts(of: path) - before
            // A group of the chunk table, and a chunk.
            #expect(counts.reads == 2 && counts.bytesRead <= 4_096 + 65_536)
            #expect(byte[0] == (place % 4_096 == 0 || place >> 16 & 3 == 1 ? Self.byte(place) : 0))
        }
        #expect(try log.findings().isEmpty)
    }

    private static func byte(_ place: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: UInt64(place) &* 0x9E37_79B9_7F4A_7C15 >> 40)
    }

    @Test func takesNoGroupOfAnotherPlaceForItsOwn() throws {
        // Two blobs of the same size: their tables differ only in checksums.
        let store = Store()
        var random = Seed(5)
        let log = try store.open()
        let ids = try log.write(author: nil) { transaction in
            try (0..<2).map { _ in
                try random.bytes(100_000).withUnsafeBytes { try transaction.putBlob($0, owner: owner) }
            }
        }.value
        let places = try ids.map { Int(try #require(try log.snapshot().placement(of: $0)).offset) + 24 }
        let path = try #require(store.files(.blobSegment).first)
        let bytes = try store.disk.contents(path)
        // The first blob's whole payload, over the second one's: the placement alone would not detect it.
        let payload = bytes[places[0]..<places[0] + 40 + 100_000 + 32]
        try store.disk.overwrite(path, at: places[1], Array(payload))
        #expect(try log.snapshot().blob(ids[0]).count == 100_000)
        let error = #expect(throws: LogError.self) { try log.snapshot().blob(ids[1]) }
        #expect(error?.code == .damaged && error?.path == path)
    }

    @Test func spansFramesWhenItIsLargerThanOne() throws {
        let directory = TemporaryDirectory()
        var options = Store.options
        options.isCompressingBlobs = false
        let log = try Log.open(
            directory.path + "/store", on: PosixDisk(), clock: .system, options: options, deriver: NoIndexes())
        let byteCount: UInt64 = (130 << 20) + 12_345
        let id = try log.write(author: nil) { transaction in
            var place: UInt64 = 0
            return try transaction.putBlob(byteCount: byteCount, owner: owner) { target in
                let count = Int(min(UInt64(target.count), byteCount - place))
                for index in 0..<count { target[index] = UInt8(truncatingIfNeeded: (place + UInt64(index)) &* 7 >> 8) }
                place += UInt64(count)
                return count
            }
        }.value
        try log.close()
        let again = try Log.open(
            directory.path + "/store", on: PosixDisk(), clock: .system, options: options, deriver: NoIndexes())
        let snapshot = again.snapshot()
        var part = [UInt8](repeating: 0, count: 300_000)
        let starts: [UInt64] = [0, (64 << 20) - 150_000, (128 << 20) - 100_000, byteCount - 300_000]
        for start in starts {
            try part.withUnsafeMutableBytes { try snapshot.readBlob(id, range: start..<start + 300_000, into: $0) }
            let isSame = part.indices.allSatisfy {
                part[$0] == UInt8(truncatingIfNeeded: (start + UInt64($0)) &* 7 >> 8)
            }
            #expect(isSame, "from \(start)")
        }
        #expect(try again.findings().isEmpty)
        try again.close()
    }

    @Test func storesOnlyWhatItSaves() throws {
        var random = Seed(1)
        let log = try Store().open()
        let noise = random.bytes(300_000)
        let text = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 % 50) }
        let (noiseID, textID) = try log.write(author: nil) { transaction in
            (
                try noise.withUnsafeBytes { try transaction.putBlob($0, owner: owner) },
                try text.withUnsafeBytes { try transaction.putBlob($0, owner: owner) }
            )
        }.value
        let snapshot = log.snapshot()
        let noisePlacement = try #require(try snapshot.placement(of: noiseID))
        let textPlacement = try #require(try snapshot.placement(of: textID))
        #expect(noisePlacement.storedByteCount == 300_000 + 40 + 16 + 5 * 8)
        #expect(textPlacement.storedByteCount < 20_000)
        #expect(try snapshot.blob(textID) == text)
    }

    @Test func verifiesEveryChunkItHandsOut() throws {
        let store = Store()
        var random = Seed(3)
        let log = try store.open()
        let bytes = random.bytes(200_000)
        let id = try log.write(author: nil) { transaction in
            try bytes.withUnsafeBytes { try transaction.putBlob($0, owner: owner) }
        }.value
        let path = try #require(store.files(.blobSegment).first)
        // A byte of the third chunk.
        let placement = try #require(try log.snapshot().placement(of: id))
        let offset = Int(placement.offset) + 24 + 40 + 2 * 65_536 + 100
        try store.disk.overwrite(path, at: offset, [bytes[2 * 65_536 + 100] ^ 1])
        let snapshot = log.snapshot()
        var part = [UInt8](repeating: 0, count: 65_536)
        for chunk in 0..<3 {
            let range = UInt64(chunk * 65_536)..<UInt64(chunk * 65_536 + 65_536)
            do {
                try part.withUnsafeMutableBytes { try snapshot.readBlob(id, range: range, into: $0) }
                #expect(chunk != 2)
            } catch let error as LogError {
                #expect(chunk == 2)
                #expect(error.code == .damaged && error.path == path && error.offset != nil)
            }
        }
        #expect(try log.findings().contains { $0.table == .blobs && $0.id == id })
    }

    @Test func endsWithItsRecord() throws {
        let store = Store()
        let log = try store.open()
        let id = try log.write(author: nil) { transaction in
            try [UInt8](repeating: 1, count: 100).withUnsafeBytes { try transaction.putBlob($0, owner: owner) }
        }.value
        let before = log.snapshot()
        _ = try log.write(author: nil) { try $0.deleteBlob(id) }
        #expect(throws: LogError.self) { try log.snapshot().blobByteCount(id) }
        #expect(try before.blobByteCount(id) == 100)
    }

    @Test func leavesTheSegmentUsableWhenAStreamBreaks() throws {
        struct Broken: Error {}
        let disk = FailingDisk(over: Store().disk)
        var options = Store.options
        options.isCompressingBlobs = false
        let log = try Store().open(options, on: disk)
        // Safe because everything runs on one thread.
        nonisolated(unsafe) var written: [Range<UInt64>] = []
        disk.arm(
            DiskFault { operation in
                guard operation.kind == .write, operation.path.contains("/b-"), let offset = operation.offset,
                    let byteCount = operation.byteCount
                else { return false }
                written.append(offset..<offset + UInt64(byteCount))
                return false
            })
        for round in 0..<3 {
            #expect(throws: Broken.self) {
                try log.write(author: nil) { transaction in
                    var count = 0
                    _ = try transaction.putBlob(byteCount: nil, owner: owner) { target in
                        count += 1
                        if count > 20 * round { throw Broken() }
                        return target.count
                    }
                }
            }
            let id = try log.write(author: nil) { transaction in
                try [UInt8](repeating: UInt8(round), count: 70_000).withUnsafeBytes {
                    try transaction.putBlob($0, owner: owner)
                }
            }.value
            #expect(try log.snapshot().blob(id) == [UInt8](repeating: UInt8(round), count: 70_000))
        }
        // No offset is written twice, not even those of dead bytes.
        written.sort { $0.lowerBound < $1.lowerBound }
        #expect(written.count > 5)
        for (first, second) in zip(written, written.dropFirst()) { #expect(first.upperBound <= second.lowerBound) }
        #expect(try log.findings().isEmpty)
    }

    @Test func goesOnBehindWhatWasGivenUpWhenOpenedAgain() throws {
        struct GivenUp: Error {}
        let store = Store()
        let log = try store.open()
        func put(_ count: Int, _ log: Log, isGivenUp: Bool = false) throws -> RecordID {
            let bytes = [UInt8](repeating: UInt8(count & 255), count: count)
            let (id, _) = try log.write(author: nil) { transaction in
                let id = try bytes.withUnsafeBytes { try transaction.putBlob($0, owner: owner) }
                if isGivenUp { throw GivenUp() }
                return id
            }
            return id
        }
        let first = try put(301, log)
        try log.checkpoint()
        #expect(throws: GivenUp.self) { try put(5_003, log, isGivenUp: true) }
        try log.close()
        let path = try #require(store.files(.blobSegment).first)
        let before = try store.disk.contents(path)
        let again = try store.open()
        #expect(again.openReport.wasClean)
        let second = try put(307, again)
        #expect(store.files(.blobSegment) == [path])
        // No written byte is ever overwritten: with encryption it would have the same nonce.
        #expect(try Array(store.disk.contents(path).prefix(before.count)) == before)
        for log in [again, try store.killed.open()] {
            #expect(try log.snapshot().blob(first) == [UInt8](repeating: 45, count: 301))
            #expect(try log.snapshot().blob(second) == [UInt8](repeating: 51, count: 307))
        }
    }

    @Test func refusesAStreamOfAnotherLengthThanAnnounced() throws {
        let log = try Store().open()
        for (announced, actual) in [(1_000, 999), (1_000, 1_001)] {
            #expect(throws: LogError.self) {
                try log.write(author: nil) { transaction in
                    var left = actual
                    _ = try transaction.putBlob(byteCount: UInt64(announced), owner: owner) { target in
                        let count = min(left, target.count)
                        left -= count
                        return count
                    }
                }
            }
        }
    }
}
