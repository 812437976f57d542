import FaultlineDisk
import FaultlineLog
import FaultlineRepair
import FaultlineTestSupport
import Testing

let testTable = TableID(rawValue: 16)
let plainTable = TableID(rawValue: 17)

/// A store on a simulated disk, with rows that are their own keys in a unique index of table 16.
struct Store {
    let disk: SimulatedDisk
    static let path = "/d/store"

    init(_ disk: SimulatedDisk = SimulatedDisk(directories: ["/d"])) {
        self.disk = disk
    }

    static var options: LogOptions {
        var options = LogOptions()
        options.maintenance = .manual
        options.seed = 1
        return options
    }

    func open(
        _ options: LogOptions = Store.options, on other: Disk? = nil, deriver: any IndexDeriver = WholeRowDeriver()
    ) throws -> Log {
        try Log.open(Self.path, on: other ?? disk, clock: Clock { 5 }, options: options, deriver: deriver)
    }

    /// The code of the error of opening; nil if it opens.
    func openingCode(_ options: LogOptions = Store.options, on other: Disk? = nil) -> LogError.Code? {
        do {
            try open(options, on: other).abandonForTests()
            return nil
        } catch let error as LogError {
            return error.code
        } catch {
            return nil
        }
    }

    /// The same disk after the process was killed.
    var killed: Store { Store(disk.afterProcessDeath()) }

    /// Opens the store from its segments alone, as after the process was killed.
    func rebuilt(_ options: LogOptions = Store.options) throws -> Log {
        var options = options
        options.ignoresDerivedFiles = true
        return try killed.open(options)
    }

    /// Leaves bytes behind the log that are no frame, as a power cut in the middle of a write does.
    func tear() throws {
        let path = try #require(files(.hotSegment).last)
        try disk.overwrite(path, at: disk.contents(path).count, [UInt8](repeating: 7, count: 30))
    }

    /// Files of a kind, by path, ascending.
    func files(_ kind: FileKind) -> [String] { disk.filePaths.filter { Self.kind(of: $0) == kind } }

    /// Bytes of all segments at one moment, with dropped ones that a snapshot still reads.
    var segmentByteCount: UInt64 {
        disk.fileSizes.reduce(0) { sum, file in
            switch Self.kind(of: file.key) {
            case .hotSegment, .coldSegment, .blobSegment: sum + UInt64(file.value)
            default: sum
            }
        }
    }

    private static func kind(of path: String) -> FileKind? {
        guard let name = path.split(separator: "/").last, path.hasPrefix(Self.path + "/") else { return nil }
        return FileName.parse(String(name))?.kind
    }
}

/// Each row is its own key in the unique index 1 of table 16.
final class WholeRowDeriver: IndexDeriver {
    static let index = IndexDefinition(id: IndexID(rawValue: 1), isUnique: true, searchPrefix: .wholeKey)

    func catalogChanged(_ read: (RecordID) throws(LogError) -> [UInt8]?) throws(LogError) {}
    func indexes(of table: TableID) -> [IndexDefinition] { table == testTable ? [Self.index] : [] }
    func deriveEntries(
        table: TableID, layout: UInt16, id: RecordID, row: UnsafeRawBufferPointer, hasExtension: Bool,
        emit: (IndexID, UnsafeRawBufferPointer) -> Void
    ) {
        emit(Self.index.id, row)
    }
}

extension Transaction {
    /// Writes a row and, in table 16, its index entry.
    mutating func put(_ id: RecordID, _ row: [UInt8], in table: TableID = testTable) throws {
        let old = try record(id, in: table) { Array($0.row) }
        if table == testTable, let old {
            try old.withUnsafeBytes { try removeEntry(WholeRowDeriver.index, key: $0, id: id) }
        }
        try put(id, in: table, layout: 1, changed: old == nil ? nil : 1, flags: [], byteCount: row.count) {
            $0.copyBytes(from: row)
        }
        if table == testTable { try row.withUnsafeBytes { try insertEntry(WholeRowDeriver.index, key: $0, id: id) } }
    }

    /// Deletes an object of table 16, and its index entry.
    mutating func erase(_ id: RecordID) throws {
        if let old = try record(id, in: testTable, { Array($0.row) }) {
            try old.withUnsafeBytes { try removeEntry(WholeRowDeriver.index, key: $0, id: id) }
        }
        try delete(id, in: testTable)
    }

    /// Writes a new object.
    mutating func insert(_ row: [UInt8], in table: TableID = testTable) throws -> RecordID {
        let id = try allocateIDs(1, in: table)
        try put(id, row, in: table)
        return id
    }

    func firstID(_ row: [UInt8]) throws -> RecordID? {
        try row.withUnsafeBytes { try firstID(in: WholeRowDeriver.index, key: $0) }
    }
}

extension Log {
    /// Writes new objects in one transaction.
    @discardableResult
    func insert(_ rows: [[UInt8]], in table: TableID = testTable) throws -> [RecordID] {
        try write(author: nil) { transaction in
            var ids: [RecordID] = []
            for row in rows { ids.append(try transaction.insert(row, in: table)) }
            return ids
        }.value
    }

    /// The findings of a verification.
    func findings() throws -> [Finding] {
        var findings: [Finding] = []
        try verify({ findings.append($0) }, progress: { _, _ in })
        return findings
    }
}

extension Snapshot {
    // Not inlined where the result is discarded: docs/Safety.md, The compiler.
    @inline(never)
    func row(_ id: RecordID, in table: TableID = testTable) throws -> [UInt8]? {
        var buffer = RecordBuffer()
        return try read(id, in: table, into: &buffer).map { Array($0.row) }
    }

    func firstID(_ row: [UInt8]) throws -> RecordID? {
        try row.withUnsafeBytes { try firstID(in: WholeRowDeriver.index, key: $0) }
    }

    func blob(_ id: RecordID) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Int(try blobByteCount(id)))
        try bytes.withUnsafeMutableBytes { try readBlob(id, range: 0..<UInt64($0.count), into: $0) }
        return bytes
    }
}

/// A row that no other number has.
func row(_ number: Int, byteCount: Int = 20) -> [UInt8] {
    var row = withUnsafeBytes(of: UInt64(number).bigEndian) { Array($0) }
    row += [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: max(0, byteCount - 8))
    return row
}

extension SimulatedDisk {
    func contents(_ path: String) throws -> [UInt8] {
        let file = try open(path, for: .reading)
        defer { file.close() }
        var bytes = [UInt8](repeating: 0, count: Int(try file.byteCount()))
        _ = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
        return bytes
    }

    func overwrite(_ path: String, at offset: Int, _ bytes: [UInt8]) throws {
        let file = try open(path, for: .updating)
        defer { file.close() }
        try bytes.withUnsafeBytes { try file.write($0, at: UInt64(offset)) }
    }

    /// Makes a file that has other contents.
    func replace(_ path: String, with bytes: [UInt8]) throws {
        if try isPresent(path) { try remove(path) }
        let file = try open(path, for: .creating)
        defer { file.close() }
        try bytes.withUnsafeBytes { try file.write($0, at: 0) }
    }
}
