import FaultlineDisk
import FaultlineLog
import FaultlineRepair
import FaultlineTestSupport
import Testing

/// Compares an index in which many entries belong to one owner.
struct IndexComparisonTests {
    /// A row's first 16 bytes are an owner and a position, and its key: searches are by the owner.
    private final class OwnerDeriver: IndexDeriver {
        static let index = IndexDefinition(id: IndexID(rawValue: 2), isUnique: false, searchPrefix: .bytes(8))

        func catalogChanged(_ read: (RecordID) throws(LogError) -> [UInt8]?) throws(LogError) {}
        func indexes(of table: TableID) -> [IndexDefinition] { table == plainTable ? [Self.index] : [] }
        func deriveEntries(
            table: TableID, layout: UInt16, id: RecordID, row: UnsafeRawBufferPointer, hasExtension: Bool,
            emit: (IndexID, UnsafeRawBufferPointer) -> Void
        ) {
            if table == plainTable { emit(Self.index.id, UnsafeRawBufferPointer(rebasing: row[..<16])) }
        }
    }

    private static func key(_ owner: UInt64, _ place: UInt64) -> [UInt8] {
        withUnsafeBytes(of: (owner.bigEndian, place.bigEndian)) { Array($0) }
    }

    /// Adds and removes entries, and writes a record, so that there is a transaction.
    private static func change(_ log: Log, _ body: (inout Transaction) throws -> Void) throws {
        _ = try log.write(author: nil) { transaction in
            try body(&transaction)
            _ = try transaction.insert(row(1), in: TableID(rawValue: 18))
        }
    }

    @Test func readsARunAFewTimesHoweverManyEntriesOneOwnerHas() throws {
        let disk = CountingDisk(over: SimulatedDisk(directories: ["/d"]))
        var options = Store.options
        // Less than the run, so that looking up a block for each entry would read one for each.
        options.memoryBudget = 1 << 20
        let log = try Store().open(options, on: disk, deriver: OwnerDeriver())
        var seed = Seed(7)
        for _ in 0..<50 {
            _ = try log.write(author: nil) { transaction in
                for _ in 0..<3_000 {
                    let key = Self.key(1, seed.next())
                    let id = try transaction.insert(key, in: plainTable)
                    try key.withUnsafeBytes { try transaction.insertEntry(OwnerDeriver.index, key: $0, id: id) }
                }
            }
        }
        try log.checkpoint()
        let runs = try disk.names(in: Store.path).filter { FileName.parse($0)?.kind == .indexRun }
            .map { "\(Store.path)/\($0)" }
        let byteCount = try runs.reduce(0) { try $0 + Int(disk.open($1, for: .reading).byteCount()) }
        #expect(byteCount > options.memoryBudget)
        disk.reset()
        #expect(try log.findings().isEmpty)
        let bytesRead = runs.reduce(0) { $0 + disk.counts(of: $1).bytesRead }
        // All blocks twice: once by themselves, once in their order.
        #expect(bytesRead > byteCount && bytesRead < 3 * byteCount, "\(bytesRead) of \(byteCount)")
        try log.close()
    }

    @Test func namesWhatOneSideLacks() throws {
        let log = try Store().open(deriver: OwnerDeriver())
        var ids: [RecordID] = []
        _ = try log.write(author: nil) { transaction in
            for place in 0..<2_000 {
                // Some entries have the same key: an entry is a key and an identifier.
                let key = Self.key(UInt64(place % 3), UInt64(place / 10))
                let id = try transaction.insert(key, in: plainTable)
                try key.withUnsafeBytes { try transaction.insertEntry(OwnerDeriver.index, key: $0, id: id) }
                ids.append(id)
            }
        }
        #expect(try log.findings().isEmpty)
        for isInRun in [false, true] {
            if isInRun { try log.checkpoint() }
            #expect(try log.findings().isEmpty)
            try Self.change(log) { transaction in
                try Self.key(1, 10).withUnsafeBytes {
                    try transaction.removeEntry(OwnerDeriver.index, key: $0, id: ids[100])
                    try transaction.insertEntry(OwnerDeriver.index, key: $0, id: 77_777)
                }
            }
            let found = try log.findings()
            #expect(found.map(\.kind) == [.contradiction, .contradiction])
            #expect(found.map(\.id) == [ids[100], 77_777])
            try Self.change(log) { transaction in
                try Self.key(1, 10).withUnsafeBytes {
                    try transaction.insertEntry(OwnerDeriver.index, key: $0, id: ids[100])
                    try transaction.removeEntry(OwnerDeriver.index, key: $0, id: 77_777)
                }
            }
        }
        // Differences beyond those that can be named are counted.
        try Self.change(log) { transaction in
            for place in 0..<2_000 {
                try Self.key(UInt64(place % 3), UInt64(place / 10)).withUnsafeBytes {
                    try transaction.removeEntry(OwnerDeriver.index, key: $0, id: ids[place])
                }
            }
        }
        let found = try log.findings()
        #expect(found.contains { $0.message == "Index 2 has 0 entries, the records 2000." }, "\(found)")
    }
}
