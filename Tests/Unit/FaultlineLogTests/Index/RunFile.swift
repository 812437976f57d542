import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Testing

/// One entry in tests.
struct TestEntry: Comparable, Hashable {
    var key: [UInt8]
    var id: RecordID
    var sequence: UInt64
    var isDelete = false

    static func < (left: TestEntry, right: TestEntry) -> Bool {
        if left.key != right.key { return left.key.lexicographicallyPrecedes(right.key) }
        if left.id != right.id { return left.id < right.id }
        return left.sequence > right.sequence
    }
}

/// A run file on a disk in memory.
struct RunFile {
    static let path = "/d/run"
    static let definition = IndexDefinition(id: IndexID(rawValue: 7), isUnique: true, searchPrefix: .wholeKey)

    let disk: Disk
    let header: FileHeader
    let definition: IndexDefinition

    init(
        number: UInt64 = 9, salt: UInt64 = 0x1234_5678_9ABC_DEF0, on disk: Disk? = nil,
        definition: IndexDefinition = RunFile.definition
    ) {
        self.definition = definition
        self.disk = disk ?? SimulatedDisk(directories: ["/d"])
        header = FileHeader(kind: .indexRun, storeID: (1, 2), fileNumber: number, salt: salt)
    }

    /// A file with entries, which must be sorted.
    init(
        _ entries: [TestEntry], number: UInt64 = 9, salt: UInt64 = 0x1234_5678_9ABC_DEF0, on disk: Disk? = nil,
        definition: IndexDefinition = RunFile.definition, expected: Int? = nil,
        auxiliaryByteCountMax: Int = RunWriter.auxiliaryByteCountMax
    ) throws {
        self.init(number: number, salt: salt, on: disk, definition: definition)
        let file = try self.disk.open(Self.path, for: .creating)
        var writer = try RunWriter(
            file: file, header: header, definition: definition, level: 0,
            expectedEntryCount: UInt64(expected ?? entries.count), auxiliaryByteCountMax: auxiliaryByteCountMax)
        for entry in entries {
            try entry.key.withUnsafeBytes {
                try writer.append(key: $0, id: entry.id, sequence: entry.sequence, isDelete: entry.isDelete)
            }
        }
        let description = try writer.finish()
        #expect(description.entryCount == UInt64(entries.count))
    }

    /// A file with other bytes and the same header.
    init(_ bytes: [UInt8], like other: RunFile) throws {
        self.init(number: other.header.fileNumber, salt: other.header.salt, definition: other.definition)
        try write(bytes)
    }

    func open(cache: BlockCache? = nil) throws -> Run {
        try Run.open(
            try disk.open(Self.path, for: .reading), fileNumber: header.fileNumber, storeID: (1, 2),
            definition: definition, cache: cache ?? BlockCache(budget: MemoryBudget(byteCount: 64 << 20)))
    }

    func bytes() throws -> [UInt8] {
        let file = try disk.open(Self.path, for: .reading)
        var bytes = [UInt8](repeating: 0, count: Int(try file.byteCount()))
        _ = try bytes.withUnsafeMutableBytes { try file.read(into: $0, at: 0) }
        return bytes
    }

    private func write(_ bytes: [UInt8]) throws {
        let file = try disk.open(Self.path, for: .creating)
        try bytes.withUnsafeBytes { try file.write($0, at: 0) }
    }

    /// The seed of checksums at an offset, by section 3 of the format.
    func seed(at offset: Int) -> UInt32 {
        var bytes: [UInt8] = []
        for field in [header.salt, header.fileNumber, UInt64(offset)] {
            bytes += withUnsafeBytes(of: field.littleEndian) { Array($0) }
        }
        return bytes.withUnsafeBytes { CRC32C.checksum($0) }
    }
}

extension Run {
    /// All entries, read past the cache like a merge.
    func entries() throws -> [TestEntry] {
        let cursor = streamingCursor()
        var entries: [TestEntry] = []
        while try cursor.advance() {
            entries.append(
                TestEntry(key: cursor.keyArray, id: cursor.id, sequence: cursor.sequence, isDelete: cursor.isDelete))
        }
        return entries
    }

    func finding(_ key: [UInt8], at limit: UInt64 = .max) throws -> IndexFinding? {
        try key.withUnsafeBytes { try newest(key: $0, at: limit) }
    }

    func mayContain(_ key: [UInt8]) throws -> Bool {
        try key.withUnsafeBytes { try mayContain(prefixHash: IndexHash.hash($0, prefixByteCountMax: .max)) }
    }

    /// Reads every byte of the file: by walking, by looking up each key, and by testing the filter with it.
    func readAll(_ keys: [[UInt8]]) throws {
        _ = try entries()
        for key in keys {
            _ = try mayContain(key)
            _ = try finding(key)
            _ = try key.withUnsafeBytes { bytes in
                let cursor: RunCursor = try self.cursor(from: bytes)
                return try cursor.advance()
            }
        }
    }
}

/// The error code that `body` throws; nil if it throws no `LogError`.
func code(_ body: () throws -> Void) -> LogError.Code? {
    do {
        try body()
        return nil
    } catch { return (error as? LogError)?.code }
}

/// Sorted entries with keys of a size, each with a unique end.
func testEntries(_ count: Int, keyByteCount: Int) -> [TestEntry] {
    (0..<count).map { number -> TestEntry in
        let tail = withUnsafeBytes(of: UInt32(number * 2).bigEndian) { Array($0) }
        let key = [UInt8](repeating: 7, count: max(0, keyByteCount - 4)) + tail
        return TestEntry(key: key, id: UInt64(number + 1), sequence: UInt64(number % 5 + 1), isDelete: number % 7 == 3)
    }
}
