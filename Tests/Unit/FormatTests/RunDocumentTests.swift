import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Foundation
import Testing

/// A reader based only on section 13 of the document reads index runs that the engine wrote.
@Suite struct RunDocumentTests {
    private struct Entry: Hashable {
        var key: [UInt8]
        var id: UInt64
        var sequence: UInt64
        var isDelete = false
    }

    private let document: FormatDocument
    private let folder: TemporaryDirectory

    init() throws {
        document = try FormatDocument()
        folder = TemporaryDirectory()
    }

    /// Reads all entries of a run, in their order.
    private func entries(of run: [UInt8]) throws -> [Entry] {
        let footer = try document.fields(of: "`RunFooter`")
        let end = Int(try footer.number("offset of the block index", in: run, at: run.count - 128))
        var entries: [Entry] = []
        var offset = 64
        while offset < end { offset += try read(&entries, ofBlockAt: offset, in: run) }
        #expect(offset == end)
        #expect(try footer.number("entries", in: run, at: run.count - 128) == UInt64(entries.count))
        return entries
    }

    /// Reads one block, and returns its size.
    private func read(_ entries: inout [Entry], ofBlockAt start: Int, in run: [UInt8]) throws -> Int {
        let block = try document.fields(of: "`IndexBlock`")
        let arrays = try document.table(below: "`IndexBlock`", columns: ["array", "bytes an entry"])
        #expect(arrays.map { $0[0] } == ["lengths", "identifiers", "sequence numbers", "keys"])
        let count = Int(try block.number("number of entries", in: run, at: start))
        let form = Int(try block.number("form", in: run, at: start))
        let last = try block.field("smallest sequence number")
        let size = last.offset + last.byteCount + Int(try block.number("size of what follows", in: run, at: start))
        #expect(
            try block.number("CRC32C", in: run, at: start)
                == UInt64(checksum(run[start + 4..<start + size], seed: seed(of: run, at: start))))

        let lengthByteCount = form & 128 == 0 ? 1 : 2
        let widths = [
            2 * lengthByteCount, form & 127, Int(try block.number("bytes of a sequence", in: run, at: start)),
        ]
        var place = start + last.offset + last.byteCount
        let begins = widths.map { width in
            defer { place += count * width }
            return place
        }
        func number(_ place: Int, _ byteCount: Int) -> UInt64 {
            (0..<byteCount).reversed().reduce(0) { $0 << 8 | UInt64(run[place + $1]) }
        }
        var key: [UInt8] = []
        for ordinal in 0..<count {
            let lengths = begins[0] + ordinal * widths[0]
            let shared = Int(number(lengths, lengthByteCount))
            let further = Int(number(lengths + lengthByteCount, lengthByteCount))
            key = Array(key[..<shared] + run[place..<place + further])
            place += further
            let sequence = number(begins[2] + ordinal * widths[2], widths[2])
            entries.append(
                Entry(
                    key: key,
                    id: try block.number("smallest identifier", in: run, at: start)
                        + number(begins[1] + ordinal * widths[1], widths[1]),
                    sequence: try block.number("smallest sequence", in: run, at: start) + sequence / 2,
                    isDelete: sequence % 2 == 1))
        }
        #expect(place == start + size)
        return size
    }

    private func checksum(_ bytes: ArraySlice<UInt8>, seed: UInt32 = 0) -> UInt32 {
        bytes.withUnsafeBytes { CRC32C.checksum($0, seed: seed) }
    }

    private func seed(of run: [UInt8], at offset: Int) throws -> UInt32 {
        let header = try document.fields(of: "`FileHeader`")
        let salt = try header.field("salt"), number = try header.field("file number")
        let place = withUnsafeBytes(of: UInt64(offset).littleEndian) { Array($0) }
        return checksum(
            run[salt.offset..<salt.offset + 8] + run[number.offset..<number.offset + 8] + place)
    }

    @Test func runsCanBeReadByTheDocumentAlone() throws {
        let path = folder.path + "/store"
        var options = LogOptions()
        options.maintenance = .manual
        let log = try Log.open(path, on: PosixDisk(), clock: .system, options: options, deriver: NoIndexes())
        let index = IndexDefinition(id: IndexID(rawValue: 5), isUnique: false, searchPrefix: .bytes(8))
        let table = TableID(rawValue: 16)
        var expected: [[Entry]] = []
        for part in 0..<2 {
            var entries: [Entry] = []
            for number in 1...400 {
                // Keys that share long prefixes or none, long ones, and several entries of one key.
                let key = [UInt8](repeating: UInt8(number % 7), count: number % 50 == 0 ? 300 + number : 9)
                let id = UInt64(number) << UInt64(number % 3 * 16)
                let isDelete = part == 1 && number % 5 == 0
                let done = try log.write(author: nil) { transaction in
                    let object = try transaction.allocateIDs(1, in: table)
                    try transaction.put(object, in: table, layout: 1, changed: nil, flags: [], byteCount: 0) { _ in }
                    try key.withUnsafeBytes {
                        if isDelete {
                            try transaction.removeEntry(index, key: $0, id: id)
                        } else {
                            try transaction.insertEntry(index, key: $0, id: id)
                        }
                    }
                }
                entries.append(Entry(key: key, id: id, sequence: done.receipt.sequence, isDelete: isDelete))
            }
            expected.append(
                entries.sorted {
                    $0.key == $1.key ? $0.id < $1.id : $0.key.lexicographicallyPrecedes($1.key)
                })
            try log.checkpoint()
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasPrefix("r-") }.sorted()
        #expect(names.count == 2)
        for (name, expected) in zip(names, expected) {
            #expect(try entries(of: [UInt8](Data(contentsOf: URL(filePath: path + "/" + name)))) == expected)
        }
        try log.close()
    }
}
