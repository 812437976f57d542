import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Testing

struct RunDamageTests {
    /// Entries whose keys share no prefix, so that 22 of them fill a block.
    private static func entries(_ count: Int) -> [TestEntry] {
        (1...count).map { number in
            let key = row(number << 56, byteCount: 40)
            return TestEntry(key: key, id: UInt64(number), sequence: UInt64(number % 5 + 1), isDelete: number % 7 == 3)
        }
    }

    /// Two blocks.
    private static let entries = entries(26)
    private static var keys: [[UInt8]] { entries.map(\.key) }

    @Test func findsEveryBitThatFlips() throws {
        let intact = try RunFile(Self.entries)
        let bytes = try intact.bytes()
        try intact.open().readAll(Self.keys)
        var missed: [Int] = []
        for place in 0..<bytes.count {
            for bit in 0..<8 {
                var damaged = bytes
                damaged[place] ^= 1 << UInt8(bit)
                let file = try RunFile(damaged, like: intact)
                if code({ try file.open().readAll(Self.keys) }) != .damaged { missed.append(place * 8 + bit) }
            }
        }
        #expect(missed.isEmpty, "bits \(missed.prefix(20)) of \(bytes.count) bytes")
    }

    @Test func findsAFileCutAnywhere() throws {
        let intact = try RunFile(Self.entries)
        let bytes = try intact.bytes()
        for count in 0..<bytes.count {
            let file = try RunFile(Array(bytes[..<count]), like: intact)
            #expect(code { try file.open().readAll(Self.keys) } == .damaged, "cut at \(count)")
        }
    }

    /// A part of the file with a separate checksum.
    private struct Piece {
        enum Kind { case block, page, footer }
        let kind: Kind
        let range: Range<Int>
    }

    private static let pageByteCount = 4_100

    private func pieces(_ bytes: [UInt8]) -> [Piece] {
        let footer = bytes.count - RunFooter.byteCount
        let filter = bytes.withUnsafeBytes { Int($0.loadUnaligned(fromByteOffset: footer + 48, as: UInt64.self)) }
        var pieces: [Piece] = []
        var offset = FileHeader.byteCount
        while offset < filter {
            let end = offset + 24 + Int(bytes[offset + 4]) + Int(bytes[offset + 5]) << 8
            pieces.append(Piece(kind: .block, range: offset..<end))
            offset = end
        }
        while offset < footer {
            let end = min(offset + Self.pageByteCount, footer)
            pieces.append(Piece(kind: .page, range: offset..<end))
            offset = end
        }
        return pieces + [Piece(kind: .footer, range: footer..<bytes.count)]
    }

    /// Sets the right checksum of a piece.
    private func reseal(_ bytes: inout [UInt8], _ piece: Piece, _ file: RunFile) {
        let isInFront = piece.kind == .block
        let content = isInFront ? piece.range.dropFirst(4) : piece.range.dropLast(4)
        let seed = file.seed(at: piece.range.lowerBound)
        let checksum = bytes[content].withUnsafeBytes { CRC32C.checksum($0, seed: seed) }
        let place = isInFront ? piece.range.lowerBound : piece.range.upperBound - 4
        withUnsafeBytes(of: checksum.littleEndian) { bytes.replaceSubrange(place..<place + 4, with: $0) }
    }

    @Test func findsAPieceOfAnotherFile() throws {
        let intact = try RunFile(Self.entries)
        let bytes = try intact.bytes()
        for other in [try RunFile(Self.entries, number: 10), try RunFile(Self.entries, salt: 1)] {
            let foreign = try other.bytes()
            #expect(foreign.count == bytes.count)
            for piece in pieces(bytes) {
                var mixed = bytes
                mixed.replaceSubrange(piece.range, with: foreign[piece.range])
                let file = try RunFile(mixed, like: intact)
                #expect(code { try file.open().readAll(Self.keys) } == .damaged, "\(piece)")
            }
        }
    }

    /// The first two blocks, which have the same size, because their keys share no prefix.
    private func firstTwo(_ bytes: [UInt8]) -> (Piece, Piece) {
        let pieces = pieces(bytes)
        #expect(pieces[0].kind == .block && pieces[1].kind == .block)
        #expect(pieces[0].range.count == pieces[1].range.count)
        return (pieces[0], pieces[1])
    }

    @Test func findsABlockAtTheWrongPlace() throws {
        let intact = try RunFile(Self.entries(60))
        let bytes = try intact.bytes()
        let (first, second) = firstTwo(bytes)
        var mixed = bytes
        mixed.replaceSubrange(first.range, with: bytes[second.range])
        let file = try RunFile(mixed, like: intact)
        let key = try #require(Self.keys.first)
        #expect(code { _ = try file.open().finding(key) } == .damaged)
        #expect(code { _ = try file.open().entries() } == .damaged)
    }

    /// An index block of a size with one entry, above all keys: header, the two lengths, the key.
    private func block(of byteCount: Int, naming place: (offset: UInt64, byteCount: UInt64)) -> [UInt8] {
        func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
            withUnsafeBytes(of: number.littleEndian) { Array($0) }
        }
        // The numbers of the only entry are the smallest, and take no bytes.
        var block: [UInt8] = [0, 0, 0, 0]
        block += bytes(UInt16(byteCount - 24)) + bytes(UInt16(1)) + [0x80, 0]
        block += bytes(place.byteCount).prefix(6) + bytes(place.offset)
        block += bytes(UInt16(0)) + bytes(UInt16(byteCount - 28))
        return block + [UInt8](repeating: 255, count: byteCount - 28)
    }

    /// The block index names an impossible block: outside, too small, too large, itself, or a later one.
    @Test func refusesAnIndexThatNamesImpossiblePlaces() throws {
        let entries = testEntries(8_000, keyByteCount: 300)
        let intact = try RunFile(entries)
        let bytes = try intact.bytes()
        let footer = try intact.open().footer
        #expect(footer.height >= 2)
        let key = entries[0].key
        let pieces = pieces(bytes)
        let first = try #require(pieces.first { $0.range.lowerBound == footer.indexOffset })
        let root = try #require(pieces.first { $0.range.lowerBound == footer.rootOffset })
        let past = UInt64(bytes.count)
        for (node, isLowest) in [(first, true), (root, false)] {
            let own = UInt64(node.range.lowerBound)
            var places: [(offset: UInt64, byteCount: UInt64)] = [
                (0, 1_000), (own, UInt64(node.range.count)), (own + 8, 100), (past, 100), (past - 20, 100),
                (.max, 100), (.max - 50, 100), (1 << 63, 100), (footer.filterOffset, 100),
            ]
            let right = isLowest ? 64 : footer.indexOffset
            for byteCount in [0, 1, 23, 65_560, 1 << 32, 1 << 48 - 1] as [UInt64] { places.append((right, byteCount)) }
            // A block of the other kind.
            places.append((isLowest ? footer.indexOffset : 64, 1_000))
            for place in places {
                var wrong = bytes
                wrong.replaceSubrange(node.range, with: block(of: node.range.count, naming: place))
                reseal(&wrong, node, intact)
                let file = try RunFile(wrong, like: intact)
                #expect(code { _ = try file.open().finding(key) } == .damaged, "\(place) in \(node)")
            }
        }
    }

    /// Merges must write in order, so the blocks that they read must be in order, each and together.
    @Test func refusesBlocksInTheWrongOrder() throws {
        let intact = try RunFile(Self.entries(60))
        let bytes = try intact.bytes()
        let (first, second) = firstTwo(bytes)
        var wrong = bytes
        wrong.replaceSubrange(first.range, with: bytes[second.range])
        wrong.replaceSubrange(second.range, with: bytes[first.range])
        reseal(&wrong, first, intact)
        reseal(&wrong, second, intact)
        let file = try RunFile(wrong, like: intact)
        #expect(code { _ = try file.open().entries() } == .damaged)
        let walked = code {
            let run = try file.open()
            let cursor = try [UInt8]().withUnsafeBytes { (bytes) throws -> RunCursor in try run.cursor(from: bytes) }
            while try cursor.advance() {}
        }
        #expect(walked == .damaged)
        // The same block twice.
        wrong.replaceSubrange(first.range, with: bytes[first.range])
        wrong.replaceSubrange(second.range, with: bytes[first.range])
        reseal(&wrong, first, intact)
        reseal(&wrong, second, intact)
        let twice = try RunFile(wrong, like: intact)
        #expect(code { _ = try twice.open().entries() } == .damaged)
    }

    @Test func refusesAFooterThatContradictsItself() throws {
        let intact = try RunFile(testEntries(300, keyByteCount: 300))
        let bytes = try intact.bytes()
        let footer = try #require(pieces(bytes).last)
        let start = footer.range.lowerBound
        // Every number of the footer except level, index, deletes and sequence numbers, for which any value may be
        // right.
        for field in [(16, 8), (24, 8), (32, 8), (40, 8), (48, 8), (56, 8), (88, 8), (96, 4), (100, 2)] {
            for value in [0, 1 << 31, 1 << 63, UInt64.max, UInt64.max - 127] as [UInt64] {
                var wrong = bytes
                withUnsafeBytes(of: value.littleEndian) {
                    let source = field.1 == 8 ? $0[0..<8] : $0[(8 - field.1)..<8]
                    wrong.replaceSubrange(start + field.0..<start + field.0 + field.1, with: source)
                }
                reseal(&wrong, footer, intact)
                let file = try RunFile(wrong, like: intact)
                #expect(code { _ = try file.open() } == .damaged, "\(value) at \(field)")
            }
        }
        // Descending the tree detects a height that is only one too large or too small.
        for change in [-1, 1] {
            var wrong = bytes
            wrong[start + 100] = UInt8(Int(wrong[start + 100]) + change)
            reseal(&wrong, footer, intact)
            let file = try RunFile(wrong, like: intact)
            #expect(code { _ = try file.open().finding(testEntries(1, keyByteCount: 300)[0].key) } == .damaged)
        }
    }

    /// Invalid content with right checksums: from a broken program, or from an attacker.
    @Test(arguments: Seed.list(20, unoptimized: 8))
    func neitherTrapsNorHangsOnNonsenseWithRightChecksums(seed: Seed) throws {
        var random = seed
        let intact = try RunFile(testEntries(3_000, keyByteCount: 300))
        let bytes = try intact.bytes()
        let keys = testEntries(3_000, keyByteCount: 300).map(\.key)
        let pieces = pieces(bytes)
        for _ in 0..<20 {
            var wrong = bytes
            for _ in 0...random.below(3) {
                // Blocks of the index follow those of entries.
                let piece = random.oneIn(3) ? pieces[pieces.count - 1 - random.below(12)] : random.pick(pieces)
                for _ in 0...random.below(4) {
                    let place = piece.range.lowerBound + random.below(min(piece.range.count, 128))
                    wrong[place] =
                        random.oneIn(2) ? UInt8(truncatingIfNeeded: random.next()) : random.pick([0, 1, 255])
                }
            }
            for piece in pieces { reseal(&wrong, piece, intact) }
            let file = try RunFile(wrong, like: intact)
            let found = code {
                let run = try file.open()
                _ = try run.entries()
                for key in keys where random.oneIn(60) {
                    _ = try run.mayContain(key)
                    _ = try run.finding(key)
                }
            }
            #expect(found == nil || found == .damaged, "\(seed.replayLine)")
        }
    }
}
