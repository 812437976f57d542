import CrashSimulation
import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport

/// A small store, a part of which the fuzzer's bytes replace; the same at every start.
struct FuzzStore: Sendable {
    static let path = "/d/store"

    /// Not closed, all in one segment: opening reads all its data.
    static let written = FuzzStore { try $0.fill() }
    /// Closed: with a checkpoint, runs and a table of blobs.
    static let closed = FuzzStore(isClosed: true) { builder in
        try builder.fill()
        try builder.log.checkpoint()
        try builder.fill()
    }
    /// Compacted and written to again.
    static let compacted = FuzzStore(segmentByteCount: 3_000) { builder in
        for _ in 0..<3 { try builder.fill() }
        try builder.log.checkpoint()
        try builder.log.compact()
        try builder.fill()
    }
    static let all = [written, closed, compacted]

    let disk: SimulatedDisk
    let names: [String]

    private init(
        segmentByteCount: Int = 1 << 20, isClosed: Bool = false, _ body: (FuzzStoreBuilder) throws -> Void
    ) {
        do {
            let disk = SimulatedDisk(directories: ["/d"])
            let options = Self.options(segmentByteCount)
            let log = try Log.open(
                Self.path, on: disk, clock: Clock { 1_000 }, options: options, deriver: CrashDeriver())
            try body(FuzzStoreBuilder(log))
            if isClosed { try log.close() } else { log.abandonForTests() }
            self.disk = disk.afterProcessDeath()
            names = try disk.names(in: Self.path).filter { $0 != "LOCK" }
        } catch {
            preconditionFailure("A store in memory, on a disk that does not fail: \(error)")
        }
    }

    static func options(_ segmentByteCount: Int = 1 << 20) -> LogOptions {
        var options = LogOptions()
        options.segmentByteCount = segmentByteCount
        options.frameByteCount = 512
        options.memoryBudget = 1 << 20
        options.maintenance = .manual
        options.seed = 7
        return options
    }

    /// The first file with a prefix.
    func name(_ prefix: String) -> String {
        guard let name = names.first(where: { $0.hasPrefix(prefix) }) else {
            preconditionFailure("There is no \(prefix) among \(names).")
        }
        return name
    }

    func bytes(_ name: String) -> [UInt8] { disk.bytes(of: Self.path + "/" + name) ?? [] }

    /// A copy with other bytes in some files.
    func disk(replacing files: [(name: String, bytes: [UInt8])]) throws -> SimulatedDisk {
        let copy = disk.afterProcessDeath()
        for file in files { try copy.place(file.bytes, at: Self.path + "/" + file.name) }
        return copy
    }
}

/// Writes some data of every kind.
final class FuzzStoreBuilder {
    let log: Log
    private var state = CrashModel()
    private var random = Seed(11)

    init(_ log: Log) { self.log = log }

    func fill() throws {
        for round in 0..<5 {
            _ = try log.write(author: round == 1 ? "author" : nil) { transaction in
                for number in UInt16(16)...18 { try self.change(TableID(rawValue: number), &transaction) }
                if round == 2 { try self.state.putBlob([UInt8](repeating: 7, count: 66_000), &transaction) }
                if round == 3 { try self.state.putBlob(self.random.bytes(90), &transaction) }
            }
        }
        _ = try log.write(author: nil) { transaction in
            try transaction.dropTable(TableID(rawValue: 18))
            if let blob = state.blobs.keys.min() {
                try transaction.deleteBlob(blob)
                state.blobs[blob] = nil
            }
        }
        state.rows[TableID(rawValue: 18)] = nil
    }

    private func change(_ table: TableID, _ transaction: inout Transaction) throws {
        for _ in 0..<3 {
            let old = random.oneIn(2) ? state.rows[table]?.keys.min() : nil
            let id = try old ?? transaction.allocateIDs(1, in: table)
            if old != nil, random.oneIn(3) {
                try state.delete(id, in: table, &transaction)
            } else {
                try state.put(id, random.bytes(12 + random.below(30)), in: table, &transaction)
            }
        }
    }
}
