import FaultlineDisk
import FaultlineLog
import FaultlineModel
import FaultlineStore
import FaultlineTestSupport
import Foundation
import Testing

/// A reader based only on the document reads a store that the engine wrote.
@Suite struct FormatDocumentTests {
    private let document: FormatDocument
    private let folder: TemporaryDirectory

    init() throws {
        document = try FormatDocument()
        folder = TemporaryDirectory()
    }

    /// Makes a store with two transactions, an author, a changed mask, a delete and a blob.
    private func makeStore() throws -> String {
        let path = folder.path + "/store"
        let log = try Log.open(path, on: PosixDisk(), clock: .system, options: LogOptions(), deriver: NoIndexes())
        let table = TableID(rawValue: 16)
        _ = try log.write(author: "Ada") { transaction in
            let id = try transaction.allocateIDs(2, in: table)
            try transaction.put(id, in: table, layout: 7, changed: nil, flags: [], byteCount: 5) {
                $0.copyBytes(from: [1, 2, 3, 4, 5])
            }
            try transaction.put(id + 1, in: table, layout: 7, changed: nil, flags: [], byteCount: 8) { _ in }
            _ = try [UInt8](repeating: 9, count: 100_000).withUnsafeBytes {
                try transaction.putBlob($0, owner: BlobOwner(table: table, slot: 3, id: id))
            }
        }
        _ = try log.write(author: nil) { transaction in
            try transaction.put(1, in: table, layout: 7, changed: 0b101, flags: .noIndexChange, byteCount: 4) { _ in }
            try transaction.delete(2, in: table)
        }
        // Without closing: the segment holds the log itself, without a checkpoint.
        _ = Unmanaged.passRetained(log)
        return path
    }

    private func bytes(_ path: String) throws -> [UInt8] { try [UInt8](Data(contentsOf: URL(filePath: path))) }

    private func checksum(_ bytes: ArraySlice<UInt8>, seed: UInt32 = 0) -> UInt32 {
        bytes.withUnsafeBytes { CRC32C.checksum($0, seed: seed) }
    }

    private func files(_ path: String, _ prefix: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path).filter { $0.hasPrefix(prefix) }.sorted()
    }

    @Test func identityIsWhereTheDocumentSays() throws {
        let path = try makeStore()
        let identity = try bytes(path + "/IDENTITY")
        let fields = try document.fields(of: "`Identity`")

        #expect(identity.count == 8_192)
        for copy in [0, 4_096] {
            #expect(Array(identity[copy..<copy + 8]) == [0x89, 0x46, 0x4C, 0x54, 0x0D, 0x0A, 0x1A, 0x0A])
            #expect(try fields.number("format major", in: identity, at: copy) == 1)
            #expect(try fields.number("format minor", in: identity, at: copy) == 0)
            #expect(try fields.number("copy size", in: identity, at: copy) == 4_096)
            #expect(try fields.number("created", in: identity, at: copy) > 1_700_000_000_000_000_000)
            let crc = try fields.field("CRC32C")
            #expect(
                try fields.number("CRC32C", in: identity, at: copy)
                    == UInt64(checksum(identity[copy..<copy + crc.offset])))
        }
        #expect(
            identity[..<4_096] == ArraySlice(identity[4_096...])
                || Array(identity[..<4_096]) == Array(identity[4_096...]))
    }

    @Test func everyFileBeginsWithTheHeader() throws {
        let path = try makeStore()
        let fields = try document.fields(of: "`FileHeader`")
        let kinds: [Character: UInt64] = ["m": 1, "s": 2, "c": 3, "b": 4, "t": 5, "r": 6]
        let identity = try bytes(path + "/IDENTITY")

        var seen: Set<Character> = []
        for name in try FileManager.default.contentsOfDirectory(atPath: path) where name.contains("-") {
            let header = try bytes(path + "/" + name)
            let first = try #require(name.first)
            seen.insert(first)
            #expect(Array(header[..<8]) == [0x46, 0x4C, 0x54, 0x46, 0x49, 0x4C, 0x45, 0x01])
            #expect(try fields.number("kind", in: header, at: 0) == kinds[first])
            #expect(try fields.number("header size", in: header, at: 0) == 64)
            let digits = name.dropFirst(2).prefix(16)
            #expect(try fields.number("file number", in: header, at: 0) == UInt64(digits, radix: 16))
            let store = try fields.field("store identifier")
            #expect(Array(header[store.offset..<store.offset + 16]) == Array(identity[16..<32]))
            #expect(try fields.number("CRC32C", in: header, at: 0) == UInt64(checksum(header[..<60])))
        }
        #expect(seen.isSuperset(of: ["m", "s", "b"]))
    }

    @Test func framesAndRecordsCanBeReadByTheDocumentAlone() throws {
        let path = try makeStore()
        let frame = try document.fields(of: "`FrameHeader`")
        let record = try document.fields(of: "`RecordHeader`")
        let transaction = try document.fields(of: "`TransactionRecord`")
        let header = try document.fields(of: "`FileHeader`")
        let name = try #require(try files(path, "s-").last)
        let log = try bytes(path + "/" + name)
        let salt = try header.field("salt").offset
        let number = try header.field("file number").offset
        let owner = Array(log[salt..<salt + 8] + log[number..<number + 8])
        let binding = checksum(owner[...])

        var offset = 64
        var previousHead: UInt64 = 0
        var operations: [UInt64] = []
        var sequences: [UInt64] = []
        var authors: [String] = []
        while offset + 48 <= log.count, try frame.number("headCRC", in: log, at: offset) != 0 {
            let seed = owner + withUnsafeBytes(of: UInt64(offset).littleEndian) { Array($0) }
            let head = checksum(log[offset + 4..<offset + 48], seed: checksum(seed[...]))
            #expect(try frame.number("headCRC", in: log, at: offset) == UInt64(head))
            #expect(try frame.number("headCRC of the previous", in: log, at: offset) == previousHead)
            previousHead = UInt64(head)
            #expect(try frame.number("durable", in: log, at: offset) <= UInt64(offset))

            let bodyByteCount = Int(try frame.number("body size", in: log, at: offset))
            var place = offset + 48
            var headersCRC: UInt32 = 0
            for _ in 0..<Int(try frame.number("number of records", in: log, at: offset)) {
                let stored = Int(try record.number("stored size", in: log, at: place))
                let end = place + 24 + (stored + 7) / 8 * 8
                #expect(
                    try record.number("CRC32C", in: log, at: place)
                        == UInt64(checksum(log[place + 4..<end]) ^ binding ^ UInt32(truncatingIfNeeded: place / 8)))
                headersCRC = checksum(log[place..<place + 24], seed: headersCRC)
                let operation = try record.number("operation", in: log, at: place)
                operations.append(operation)
                let payload = place + 24
                if operation == 4 {
                    sequences.append(try transaction.number("sequence number", in: log, at: payload))
                    let size = Int(try transaction.number("bytes of author", in: log, at: payload))
                    let author = try transaction.field("bytes of author").offset + 4
                    authors.append(String(decoding: log[payload + author..<payload + author + size], as: UTF8.self))
                }
                if operation == 1, try record.number("flags", in: log, at: place) & 1 != 0 {
                    #expect(log[payload] == 0b101)
                }
                place = end
            }
            #expect(place == offset + 48 + bodyByteCount)
            #expect(try frame.number("CRC32C over the headers", in: log, at: offset) == UInt64(headersCRC))
            offset = place
        }

        #expect(operations.filter { $0 == 4 }.count == 2)
        #expect(operations.contains(1) && operations.contains(2))
        #expect(sequences.count == 2 && sequences[1] == sequences[0] + 1)
        #expect(authors == ["Ada", ""])
    }

    @Test func namedNumbersAreTheCodes() throws {
        for row in try document.table(below: "## 6. Records", columns: ["operation", "name"]) {
            let value = try #require(UInt8(row[0]))
            let names: [RecordOperation: String] = [
                .put: "put", .delete: "delete", .moved: "moved", .transaction: "transaction", .dropTable: "drop table",
                .blob: "blob", .edit: "edit",
            ]
            let operation = try #require(RecordOperation(rawValue: value))
            #expect(names[operation] == row[1])
        }
        let kinds: [FrameKind: String] = [
            .commit: "commit", .moved: "moved", .blob: "blob", .edit: "edit", .mark: "mark", .block: "block",
        ]
        let frames = try document.table(below: "## 5. Frames", columns: ["kind", "name"])
        #expect(frames.count == kinds.count)
        for row in frames {
            let value = try #require(UInt8(row[0]))
            let kind = try #require(FrameKind(rawValue: value))
            let name = try #require(kinds[kind])
            #expect(row[1].hasPrefix(name))
        }
        var documented: [UInt8: String] = [:]
        for row in try document.table(below: "`AttributeKind`", columns: ["value", "kind"]) {
            for (value, kind) in zip(row[0].split(separator: ","), row[1].split(separator: ",")) {
                let number = try #require(UInt8(value.trimmingCharacters(in: .whitespaces)))
                documented[number] = kind.trimmingCharacters(in: .whitespaces)
            }
        }
        for kind in AttributeKind.allCases { #expect(documented[kind.rawValue] == "\(kind)") }
        #expect(documented[ColumnKind.toOne.rawValue] == "to-one")
        #expect(documented[ColumnKind.link.rawValue] == "link column")
        #expect(documented[ColumnKind.toMany.rawValue] == "to-many relationship")
    }
}
