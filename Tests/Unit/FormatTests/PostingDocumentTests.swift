import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Foundation
import Testing

/// A reader based only on docs/format/Postings.md reads the blocks of postings that the engine wrote.
@Suite struct PostingDocumentTests {
    private struct Entry: Hashable {
        var key: [UInt8]
        var id: UInt64
        var sequence: UInt64
        var isDelete: Bool
    }

    private let document: FormatDocument
    private let folder = TemporaryDirectory()

    init() throws { document = try FormatDocument() }

    /// Bytes, and a place among them.
    private struct Reader {
        let bytes: [UInt8]
        var place: Int

        mutating func take(_ count: Int) -> [UInt8] {
            defer { place += count }
            return Array(bytes[place..<place + count])
        }

        mutating func number() -> UInt64 {
            var value: UInt64 = 0
            for shift in stride(from: UInt64(0), to: 70, by: 7) {
                let byte = take(1)[0]
                value |= UInt64(byte & 127) << shift
                if byte < 128 { break }
            }
            return value
        }

        mutating func signed() -> Int64 {
            let number = number()
            return number % 2 == 0 ? Int64(number / 2) : -Int64(number / 2) - 1
        }
    }

    /// Numbers of some bits, one behind the other.
    private struct Bits {
        let bytes: [UInt8]
        var place = 0

        mutating func take(_ count: Int) -> UInt64 {
            defer { place += count }
            return (0..<count).reduce(0) { value, bit in
                let at = place + bit
                return value | UInt64(bytes[at / 8] >> UInt8(at % 8) & 1) << UInt64(bit)
            }
        }
    }

    private func entries(ofBlock block: [UInt8]) throws -> [Entry] {
        let fields = try document.fields(of: "`PostingBlock`")
        let parts = try document.table(below: "`PostingBlock`", columns: ["part of a group", "bytes", "contents"])
        #expect(
            parts.map { $0[0] } == [
                "shared", "further", "term", "count", "identifier", "sequence", "length", "first byte", "widths",
                "rest", "columns", "payloads",
            ])
        let columns = try document.table(
            below: "`PostingBlock`", columns: ["column", "numbers", "bits each", "contents"])
        #expect(
            columns.map { $0[0] } == ["identifiers", "sequence numbers", "deletes", "lengths", "first bytes"])
        let firstID = Int64(try fields.number("identifier of the first", in: block, at: 0))
        let firstSequence = Int64(try fields.number("sequence number of the first", in: block, at: 0))
        let slope = try fields.field("slope")
        let rise = Int64(try fields.number("slope", in: block, at: 0))
        var reader = Reader(bytes: block, place: slope.offset + slope.byteCount)
        var term: [UInt8] = []
        var entries: [Entry] = []
        while reader.place < block.count {
            let shared = Int(reader.take(1)[0]), further = Int(reader.take(1)[0])
            term = term.prefix(shared) + reader.take(further)
            let control = reader.number()
            let count = Int(control / 2) + 1
            var id = firstID + reader.signed()
            let residual = reader.signed(), length = Int(reader.number()), first = reader.take(1)[0]
            var widths = [0, 0, 0, 0]
            if count > 1 {
                let bytes = reader.take(3)
                widths = [Int(bytes[0]), Int(bytes[1]), Int(bytes[2] % 16), Int(bytes[2] / 16)]
                _ = reader.number()
            }
            let deletes = count > 1 && control % 2 == 1 ? count : 0
            let bitCount = (count - 1) * widths[0] + deletes + count * (widths[1] + widths[2] + widths[3])
            var bits = Bits(bytes: reader.take((bitCount + 7) / 8))
            let steps = (1..<count).map { _ in Int64(bits.take(widths[0])) }
            let residuals = (0..<count).map { _ in residual + Int64(bits.take(widths[1])) }
            let isDelete = (0..<count).map { _ in deletes > 0 ? bits.take(1) == 1 : control % 2 == 1 }
            let lengths = (0..<count).map { _ in length + Int(bits.take(widths[2])) }
            let firsts = (0..<count).map { _ in first + UInt8(bits.take(widths[3])) }
            for place in 0..<count {
                if place > 0 { id += steps[place - 1] }
                let key = term + [0] + withUnsafeBytes(of: id.bigEndian) { Array($0) } + [firsts[place]]
                let sequence = firstSequence + ((id - firstID) * rise) >> 16 + residuals[place]
                entries.append(
                    Entry(
                        key: key + reader.take(lengths[place] - 1), id: UInt64(id), sequence: UInt64(sequence),
                        isDelete: isDelete[place]))
            }
        }
        #expect(try fields.number("number of entries", in: block, at: 0) == UInt64(entries.count))
        return entries
    }

    @Test func `postings can be read by the document alone`() throws {
        let path = folder.path + "/run"
        let disk = PosixDisk()
        let index = IndexDefinition(id: IndexID(rawValue: 5), isUnique: false, searchPrefix: .bytes(9), isText: true)
        let header = FileHeader(kind: .indexRun, storeID: (1, 2), fileNumber: 3, salt: 4)
        var expected: [Entry] = []
        for (place, term) in ["", "boat", "boats", "sea", "sealed", "winter"].enumerated() {
            for id in 1...900 as ClosedRange<UInt64> where id % UInt64(1 + place * place * 5) == 0 {
                let payload = (0...id % 4).map { UInt8(truncatingIfNeeded: id &* 7 &+ $0) }
                let key = Array(term.utf8) + [0] + withUnsafeBytes(of: id.bigEndian) { Array($0) } + payload
                let isDelete = place > 2 && id % 7 == 1
                expected.append(
                    Entry(key: key, id: id, sequence: 50 + id / 3 - id % 2, isDelete: isDelete))
            }
        }
        var writer = try RunWriter(
            file: try disk.open(path, for: .creating), header: header, definition: index, level: 0,
            expectedEntryCount: UInt64(expected.count))
        for entry in expected {
            try entry.key.withUnsafeBytes {
                try writer.append(key: $0, id: entry.id, sequence: entry.sequence, isDelete: entry.isDelete)
            }
        }
        _ = try writer.finish()
        let run = [UInt8](try Data(contentsOf: URL(filePath: path)))
        let footer = try document.fields(of: "`RunFooter`")
        let end = Int(try footer.number("offset of the block index", in: run, at: run.count - 128))
        var found: [Entry] = []
        var offset = 64
        while offset < end {
            let size = 24 + Int(run[offset + 4]) + Int(run[offset + 5]) << 8
            #expect(run[offset + 8] == 0x7F)
            found += try entries(ofBlock: Array(run[offset..<offset + size]))
            offset += size
        }
        #expect(found == expected)
    }
}
