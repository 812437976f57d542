import CrashSimulation
import FaultlineLog
import FaultlineTestSupport

/// Fills a store, and records its contents and the earlier contents of its files.
final class RotStoreBuilder {
    let log: Log
    private let disk: SimulatedDisk
    private(set) var states = [CrashModel()]
    private(set) var frames: [UInt64: RotStore.Frame] = [:]
    private(set) var history: [String: [[UInt8]]] = [:]
    /// The end of the log in each segment.
    private var logEnds: [String: Int] = [:]
    private var random = Seed(3)

    init(_ log: Log, on disk: SimulatedDisk) {
        self.log = log
        self.disk = disk
    }

    /// Runs transactions that insert, change and delete rows in three tables, two of them with an index.
    func writeRows(transactions: Int) throws {
        for _ in 0..<transactions {
            try write(author: random.oneIn(2) ? "author" : nil) { state, transaction in
                for number in UInt16(16)...18 { try self.change(TableID(rawValue: number), &state, &transaction) }
            }
        }
    }

    /// Runs one transaction with a blob for each value.
    func writeBlobs(_ values: [[UInt8]]) throws {
        try write(author: nil) { state, transaction in
            for value in values { try state.putBlob(value, &transaction) }
        }
    }

    private func write(author: String?, _ body: (inout CrashModel, inout Transaction) throws -> Void) throws {
        let before = disk.filePaths.reduce(into: [:]) { $0[$1] = disk.bytes(of: $1) }
        for (path, bytes) in before where history[path]?.last != bytes { history[path, default: []].append(bytes) }
        var state = states[states.count - 1]
        _ = try log.write(author: author) { transaction in try body(&state, &transaction) }
        states.append(state)
        // The frame is the growth of the log in the newest segment.
        guard let path = disk.filePaths.last(where: { $0.contains("/s-") }),
            let end = try log.usage().segments.last(where: { $0.kind == .hotSegment })?.byteCount
        else { return }
        frames[UInt64(states.count - 1)] = (path, (logEnds[path] ?? FileHeader.byteCount)..<Int(end))
        logEnds[path] = Int(end)
    }

    private func change(_ table: TableID, _ state: inout CrashModel, _ transaction: inout Transaction) throws {
        let old = random.oneIn(2) ? state.rows[table]?.keys.min() : nil
        let id = try old ?? transaction.allocateIDs(1, in: table)
        if old != nil, random.oneIn(3) {
            try state.delete(id, in: table, &transaction)
        } else {
            var row = random.bytes(12 + random.below(30))
            if table.rawValue == 17 { row[0] &= 3 }
            try state.put(id, row, in: table, &transaction)
        }
    }
}
