import CrashSimulation
import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport

/// A small store that rot is tried on, and what it holds.
package struct RotStore: Sendable {
    static let path = "/d/store"

    package let name: String
    let disk: SimulatedDisk
    /// What the store holds after each transaction.
    let states: [CrashModel]
    /// The oldest transaction that may be the newest found: in a store that was not closed, rot in the last group cannot
    /// be told from a torn tail.
    let oldestFound: UInt64
    let options: LogOptions
    let isClosed: Bool
    /// Every file with its size in bytes; they are numbered by bits, one after the other.
    package let files: [(path: String, byteCount: Int)]

    /// Bits of all files.
    package var bitCount: Int { files.reduce(0) { $0 + $1.byteCount * 8 } }

    /// The file and the bit in it of a number below `bitCount`.
    package func place(of bit: Int) -> (path: String, bit: Int) {
        var rest = bit
        for file in files {
            if rest < file.byteCount * 8 { return (file.path, rest) }
            rest -= file.byteCount * 8
        }
        preconditionFailure("The store has \(bitCount) bits.")
    }

    /// All stores that rot is tried on.
    package static func all() throws -> [RotStore] {
        [
            try RotStore("plain", isClosed: true) { try $0.writeRows(transactions: 14) },
            try RotStore("lz4", isClosed: true) { builder in
                try builder.writeRows(transactions: 2)
                try builder.writeBlobs([6_000, 20_000].map { [UInt8](repeating: UInt8($0 >> 8), count: $0) })
            },
            try RotStore("blobs", isClosed: true) { builder in
                try builder.writeRows(transactions: 2)
                var random = Seed(9)
                try builder.writeBlobs([random.bytes(66_000), random.bytes(900)])
            },
            try RotStore("unclean", isClosed: false) { builder in
                try builder.writeRows(transactions: 8)
                try builder.log.checkpoint()
                try builder.writeRows(transactions: 6)
            },
        ]
    }

    private init(_ name: String, isClosed: Bool, _ body: (RotStoreBuilder) throws -> Void) throws {
        self.name = name
        self.isClosed = isClosed
        var options = LogOptions()
        options.maintenance = .inline
        options.segmentByteCount = 3_000
        options.seed = 7
        self.options = options
        let disk = SimulatedDisk(directories: ["/d"])
        let builder = RotStoreBuilder(
            try Log.open(Self.path, on: disk, clock: Clock { 1_000 }, options: options, deriver: CrashDeriver()))
        try body(builder)
        if isClosed { try builder.log.close() } else { builder.log.abandonForTests() }
        states = builder.states
        oldestFound = UInt64(builder.states.count - (isClosed ? 1 : 2))
        let settled = disk.afterProcessDeath()
        self.disk = settled
        files = settled.filePaths.map { ($0, settled.bytes(of: $0)?.count ?? 0) }
    }
}

/// Fills a store, and remembers what it holds.
final class RotStoreBuilder {
    let log: Log
    private(set) var states = [CrashModel()]
    private var random = Seed(3)

    init(_ log: Log) { self.log = log }

    /// Transactions of new, changed and deleted rows in three tables, two of them indexed.
    func writeRows(transactions: Int) throws {
        for _ in 0..<transactions {
            var state = states[states.count - 1]
            _ = try log.write(author: random.oneIn(2) ? "author" : nil) { transaction in
                for number in UInt16(16)...18 { try self.change(TableID(rawValue: number), &state, &transaction) }
            }
            states.append(state)
        }
    }

    private func change(_ table: TableID, _ state: inout CrashModel, _ transaction: inout Transaction) throws {
        var rows = state.rows[table] ?? [:]
        let old = random.oneIn(2) ? rows.keys.sorted().first : nil
        let id = try old ?? transaction.allocateIDs(1, in: table)
        if let row = rows[id], let (index, key) = CrashDeriver.entry(of: table, id: id, row: row) {
            try key.withUnsafeBytes { try transaction.removeEntry(index, key: $0, id: id) }
        }
        if old != nil, random.oneIn(3) {
            try transaction.delete(id, in: table)
            rows[id] = nil
        } else {
            var row = random.bytes(12 + random.below(30))
            if table.rawValue == 17 { row[0] &= 3 }
            try transaction.put(id, row, in: table, changed: old == nil ? nil : 1)
            if let (index, key) = CrashDeriver.entry(of: table, id: id, row: row) {
                try key.withUnsafeBytes { try transaction.insertEntry(index, key: $0, id: id) }
            }
            rows[id] = row
        }
        state.rows[table] = rows
    }

    /// One transaction with a blob for each value.
    func writeBlobs(_ values: [[UInt8]]) throws {
        var state = states[states.count - 1]
        _ = try log.write(author: nil) { transaction in
            for value in values {
                let owner = BlobOwner(table: TableID(rawValue: 16), slot: 1, id: 1)
                let id = try value.withUnsafeBytes { try transaction.putBlob($0, owner: owner) }
                state.blobs[id] = value
            }
        }
        states.append(state)
    }
}
