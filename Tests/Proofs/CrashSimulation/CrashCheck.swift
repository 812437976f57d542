import FaultlineDisk
package import FaultlineLog
import FaultlineRepair
package import FaultlineTestSupport

/// The error of a store that broke a promise.
package struct CrashViolation: Error, Sendable, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
}

/// Recovers the store from a disk that a crash left, and checks the promises.
package struct CrashCheck {
    package let path: String
    package let options: LogOptions
    package let states: [CrashModel]
    package let acknowledged: UInt64
    package let issued: UInt64
    /// Draws the states of the past that are read; nil for none.
    package var past: Seed?
    /// Whether a crash may have lost states of the past: only then they may be refused.
    package var mayLackPast = false

    /// - Parameters:
    ///   - path: The store.
    ///   - options: Its options.
    ///   - states: The expected contents after each transaction.
    ///   - acknowledged: The newest transaction that must be there.
    ///   - issued: The newest transaction that may be there.
    package init(
        path: String, options: LogOptions, states: [CrashModel], acknowledged: UInt64, issued: UInt64
    ) {
        self.path = path
        self.options = options
        self.states = states
        self.acknowledged = acknowledged
        self.issued = issued
    }

    /// Opens the store; with `keepsWindow` it goes on with its own window of past states, not with that of the options.
    private func open(_ disk: Disk, keepsWindow: Bool = false) throws -> Log {
        let log: Log
        var options = options
        // Before the first commit the window may not be there yet.
        if keepsWindow, acknowledged > 0 { options.retention = nil }
        do {
            log = try Log.open(path, on: disk, clock: Clock { 2_000 }, options: options, deriver: CrashDeriver())
        } catch {
            throw CrashViolation("a legal crash is refused: \(error.code): \(error)")
        }
        // Nothing is damaged, so everything that the manifest lists had been made durable before.
        if let name = log.openReport.ignoredDerivedFiles.first {
            log.abandonForTests()
            throw CrashViolation("the manifest lists \(name), which was not durable")
        }
        return log
    }

    /// - Returns: The newest transaction in the store.
    @discardableResult
    package func run(on disk: SimulatedDisk) throws -> UInt64 {
        let mayLackPast = try mayLackPast || readsPast && hasUnreadableListing(disk)
        let log = try open(disk, keepsWindow: true)
        let sequence = log.snapshot().sequence
        guard sequence >= acknowledged else {
            throw CrashViolation("acknowledged transactions are lost: \(acknowledged) were, \(sequence) are found")
        }
        guard sequence <= issued else {
            throw CrashViolation("transaction \(sequence) was never issued, only \(issued)")
        }
        try log.checkInvariants()
        let state = self.state(at: sequence)
        try compare(log, state, "after recovery")
        try verify(log, "after recovery")
        log.abandonForTests()
        try comparePast(on: disk, through: sequence, mayLack: mayLackPast, "after recovery")

        let again = try open(disk)
        guard again.snapshot().sequence == sequence else {
            throw CrashViolation("opening twice gives \(sequence), then \(again.snapshot().sequence)")
        }
        try compare(again, state, "when opened twice")
        var next = state
        try commitOneMore(again, &next)
        try again.compact()
        try again.checkInvariants()
        try compare(again, next, "after compaction")
        try comparePast(on: disk, through: sequence, mayLack: mayLackPast, "after compaction")
        try again.close()

        let last = try open(disk)
        guard last.openReport.wasClean else { throw CrashViolation("a store that was closed is not clean") }
        try compare(last, next, "after one more commit")
        try verify(last, "after one more commit")
        try last.close()
        // Rebuilding all derived data is slow; checking some states is enough.
        if sequence % 4 == 0 { try compareWithoutDerivedFiles(on: disk, next) }
        return sequence
    }

    /// Checks that the segments alone give the same state.
    private func compareWithoutDerivedFiles(on disk: SimulatedDisk, _ state: CrashModel) throws {
        var options = options
        options.ignoresDerivedFiles = true
        let log = try Log.open(path, on: disk, clock: Clock { 2_000 }, options: options, deriver: CrashDeriver())
        try compare(log, state, "from the segments alone")
        try log.close()
    }

    /// The expected content of the store at a transaction; those of compaction change nothing.
    func state(at sequence: UInt64) -> CrashModel { states[min(Int(sequence), states.count - 1)] }

    /// Opens a store whose newest manifest was damaged while an older one came back.
    ///
    /// Opening may be refused. If it succeeds, the store holds everything acknowledged, or has quarantined the unknown
    /// segments; and no segment is gone.
    package func losesNothing(on disk: SimulatedDisk) throws {
        let before = segments(of: disk)
        do {
            let log = try Log.open(path, on: disk, clock: Clock { 2_000 }, options: options, deriver: CrashDeriver())
            let sequence = log.snapshot().sequence
            let hasSetAside = log.openReport.quarantinedFiles.contains { $0.hasPrefix("s-") }
            guard sequence >= acknowledged || hasSetAside, sequence <= issued else {
                throw CrashViolation("\(acknowledged) transactions were acknowledged, \(sequence) are found")
            }
            try compare(log, state(at: sequence), "after recovery")
            log.abandonForTests()
        } catch let error as LogError {
            guard error.code == .damaged else { throw error }
            guard segments(of: disk) == before else { throw CrashViolation("a store that was refused was changed") }
        }
    }

    private func segments(of disk: SimulatedDisk) -> [String: [UInt8]] {
        var segments: [String: [UInt8]] = [:]
        for path in disk.filePaths where path.hasSuffix(".fls") { segments[path] = disk.bytes(of: path) }
        return segments
    }

    private func commitOneMore(_ log: Log, _ state: inout CrashModel) throws {
        let row: [UInt8] = [3, 9, 9, 9, 9, 9, 9, 9, 9]
        let table = TableID(rawValue: 17)
        let (id, _) = try log.write(author: nil) { transaction in
            let id = try transaction.allocateIDs(1, in: table)
            try transaction.put(id, row, in: table)
            for (definition, key) in CrashDeriver.entries(of: table, id: id, row: row) {
                try key.withUnsafeBytes { try transaction.insertEntry(definition, key: $0, id: id) }
            }
            return id
        }
        guard state.rows[table]?[id] == nil else { throw CrashViolation("identifier \(id) was given twice") }
        state.rows[table, default: [:]][id] = row
    }

    private func compare(_ log: Log, _ state: CrashModel, _ when: String) throws {
        if let difference = try Self.difference(log.snapshot(), state) {
            throw CrashViolation("\(when): \(difference)")
        }
    }

    private func verify(_ log: Log, _ when: String) throws {
        var findings: [Finding] = []
        try log.verify({ findings.append($0) }, progress: { _, _ in })
        if let first = findings.first {
            throw CrashViolation("\(when), verification finds: \(first) (\(findings.count) in all)")
        }
    }

    /// The first difference between a store and its expected content.
    package static func difference(_ snapshot: Snapshot, _ state: CrashModel) throws -> String? {
        var buffer = RecordBuffer()
        for number in UInt16(16)...18 {
            let table = TableID(rawValue: number)
            let rows = state.rows[table] ?? [:]
            guard snapshot.recordCount(of: table) == rows.count else {
                return "table \(number) has \(snapshot.recordCount(of: table)) objects, expected \(rows.count)"
            }
            for (id, row) in rows {
                guard let view = try snapshot.read(id, in: table, into: &buffer) else {
                    return "object \(id) of table \(number) is missing"
                }
                guard view.row.elementsEqual(row) else { return "object \(id) of table \(number) is another version" }
            }
        }
        guard snapshot.recordCount(of: .blobs) == state.blobs.count else {
            return "there are \(snapshot.recordCount(of: .blobs)) blobs"
        }
        for (id, bytes) in state.blobs {
            var found = [UInt8](repeating: 0, count: bytes.count)
            guard try snapshot.blobByteCount(id) == UInt64(bytes.count) else { return "blob \(id) has another size" }
            try found.withUnsafeMutableBytes { try snapshot.readBlob(id, range: 0..<UInt64(bytes.count), into: $0) }
            guard found == bytes else { return "blob \(id) has other bytes" }
        }
        return nil
    }
}
