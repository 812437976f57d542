package import FaultlineDisk
package import FaultlineLog
package import FaultlineTestSupport

/// A random workload on a store with tiny limits, with the expected content after each transaction.
///
/// The same seed gives the same operations of the disk.
package final class CrashWorkload {
    package struct Reach: Equatable, Sendable {
        package var commits = 0
        package var multiFrameCommits = 0
        package var wideCommits = 0
        package var abandoned = 0
        package var deletes = 0
        package var blobs = 0
        package var checkpoints = 0
        package var reopenings = 0
        package var kills = 0
        package var tableDrops = 0
        package var compactions = 0
        package var droppedSegments = 0
        package var movedBytes = 0
        package var waits = 0
        package var uploads = 0
        package var placedUploads = 0
    }

    /// The largest number of transactions of one compaction, for new placements of blobs.
    private static let compactionTransactionMax: UInt64 = 64

    private let seed: UInt64
    private var random: Seed
    /// The expected content of the store after each transaction, by number.
    private(set) package var states: [CrashModel] = [CrashModel()]
    /// The newest transaction whose commit returned.
    private(set) package var acknowledged: UInt64 = 0
    /// The newest transaction that may be found: one more than acknowledged during a commit, and those with new
    /// placements by compaction.
    package var issued: UInt64 { newest + Self.compactionTransactionMax }
    private var newest: UInt64 { UInt64(states.count - 1) }
    private(set) package var reach = Reach()
    /// Large values that are being written beside transactions, with their bytes so far.
    private var uploads: [(upload: BlobUpload, bytes: [UInt8])] = []
    /// Those that are complete, and wait for a transaction.
    private var waiting: [(upload: FinishedUpload, bytes: [UInt8])] = []
    package let options: LogOptions
    /// Gets the invariants that recovery breaks.
    let watch = InvariantWatch()

    package init(seed: UInt64) {
        self.seed = seed
        random = Seed(seed)
        var options = Self.options(seed: seed)
        options.invariantWatch = watch.note
        self.options = options
    }

    /// Memory for about 14 pages.
    private static let memoryBudgetMin = 60_000

    /// Limits so small that segments roll, transactions spill and manifests rotate all the time.
    package static func options(seed: UInt64) -> LogOptions {
        var random = Seed(seed ^ 0x5EED)
        var options = LogOptions()
        options.segmentByteCount = random.pick([2_048, 6_000, 20_000])
        options.checkpointByteCount = random.pick([3_000, 12_000, 1 << 20])
        options.frameByteCount = random.pick([512, 1_500, 100_000])
        options.manifestByteCount = random.pick([600, 3_000, 1 << 20])
        options.manifestGrowth = random.pick([1, 4])
        options.memoryBudget = random.pick([1 << 20, 200_000, memoryBudgetMin])
        options.maintenance = .inline
        if random.oneIn(8) { options.durability = .async }
        options.preparedByteCount = random.pick([0, 300, 1_000, 5_000])
        if hasWindow(seed: seed) { options.retention = RetentionWindow(nanoseconds: .max, byteCount: .max) }
        options.seed = seed
        return options
    }

    /// Whether a seed's store has a window of past states.
    static func hasWindow(seed: UInt64) -> Bool { seed % 4 == 3 }

    /// The first seed whose commits wait for the disk, in prepared space, or the first whose commits do not wait.
    package static func firstSeed(isWaiting: Bool) -> UInt64 {
        (1...).first {
            let options = options(seed: $0)
            return isWaiting
                ? options.durability == .sync && options.preparedByteCount == 300 : options.durability == .async
        } ?? 1
    }

    package func open(_ disk: Disk, _ path: String) throws -> Log {
        try Log.open(path, on: disk, clock: Clock { 1_000 }, options: options, deriver: CrashDeriver())
    }

    /// Runs `stepCount` random steps and closes the store; `shouldStop` is called before each step.
    package func run(on disk: SimulatedDisk, path: String, stepCount: Int, shouldStop: () -> Bool) throws {
        var log = try open(disk, path)
        for _ in 0..<stepCount {
            if shouldStop() { break }
            switch random.below(53) {
            case 0..<24: try commit(log, recordCount: 1 + random.below(4))
            case 24..<28: try commit(log, recordCount: 10 + random.below(30))
            case 28..<31: try abandon(log)
            case 31..<34: try commit(log, recordCount: 1, blobByteCount: random.pick([10, 700, 2_500, 70_000]))
            case 34..<37:
                try log.checkpoint()
                acknowledged = newest
                reach.checkpoints += 1
            case 37: try dropTable(log)
            case 38..<42: try compact(log)
            case 42..<50: try upload(log)
            case 50 where options.memoryBudget == Self.memoryBudgetMin: try commitFarApart(log)
            default:
                if random.oneIn(2) {
                    try log.close()
                    acknowledged = newest
                    reach.reopenings += 1
                } else {
                    // The process is killed, but the system continues: written bytes are there, though not durable.
                    try kill(log, on: disk, path)
                    reach.kills += 1
                }
                uploads.removeAll()
                // A value that was not placed in time is copied, or its bytes stay unused.
                if random.oneIn(2) { waiting.removeAll() }
                log = try open(disk, path)
                try check(log)
            }
            settle(log)
            try log.checkInvariants()
            try watch.check()
        }
        try log.close()
        acknowledged = newest
        uploads.removeAll()
        waiting.removeAll()
    }

    /// Compaction changes no content, but may have made transactions.
    private func settle(_ log: Log) {
        while newest < log.snapshot().sequence { states.append(states[states.count - 1]) }
        if options.durability == .sync { acknowledged = newest }
    }

    private func compact(_ log: Log) throws {
        let report = try log.compact()
        settle(log)
        acknowledged = newest
        reach.compactions += 1
        reach.droppedSegments += report.segmentCount
        reach.movedBytes += Int(report.movedByteCount)
        guard report.damage.isEmpty else { throw CrashViolation("compaction met rot: \(report.damage)") }
    }

    /// The comparison of `CrashCheck`, on the open store.
    private func check(_ log: Log) throws {
        if let difference = try CrashCheck.difference(log.snapshot(), states[states.count - 1]) {
            throw CrashViolation("the reopened store differs: \(difference)")
        }
    }

    /// Ends a process; every third time in the middle of a write to the log.
    private func kill(_ log: Log, on disk: SimulatedDisk, _ path: String) throws {
        log.abandonForTests()
        guard random.oneIn(3) else { return }
        let name = try disk.names(in: path).last { FileName.parse($0)?.kind == .hotSegment }
        guard let name else { return }
        let file = try disk.open(path + "/" + name, for: .updating)
        defer { file.close() }
        let bytes = [UInt8](repeating: 0xA5, count: 8 + random.below(200))
        try bytes.withUnsafeBytes { try file.write($0, at: file.byteCount()) }
    }

    /// Records a commit: with `.sync` it is promised when it returns, with `.async` after a wait for it.
    private func noteCommit(_ log: Log) throws {
        if options.durability == .async {
            guard random.oneIn(4) else { return }
            // Some waits are for the newest transaction, some for an earlier one.
            let waited = random.oneIn(2) ? newest : newest - min(newest, UInt64(random.below(3)))
            try log.waitUntilDurable(through: waited)
            acknowledged = max(acknowledged, waited)
            reach.waits += 1
            return
        }
        acknowledged = newest
    }

    private func commit(_ log: Log, recordCount: Int, blobByteCount: Int = 0) throws {
        var state = states[states.count - 1]
        states.append(state)
        var frames = 0
        _ = try log.write(author: random.oneIn(3) ? "author" : nil) { transaction in
            for _ in 0..<recordCount { frames += try self.change(&transaction, &state) }
            if blobByteCount > 0 {
                for _ in 0...self.random.below(3) { try self.putBlob(&transaction, &state, blobByteCount) }
            }
            self.states[self.states.count - 1] = state
        }
        try noteCommit(log)
        reach.commits += 1
        if frames > options.frameByteCount { reach.multiFrameCommits += 1 }
    }

    /// Commits records so far apart that the changed pages take most of the smallest memory budget.
    private func commitFarApart(_ log: Log) throws {
        var state = states[states.count - 1]
        states.append(state)
        let (table, count, distance) = (TableID(rawValue: 16), 12, RecordID(TablePage.byteCount / 8))
        _ = try log.write(author: nil) { transaction in
            let first = try transaction.allocateIDs(count * Int(distance), in: table)
            for number in 0..<count {
                let (id, row) = (first + RecordID(number) * distance, self.random.bytes(100))
                try self.put(&transaction, table, id, row)
                state.rows[table, default: [:]][id] = row
            }
            self.states[self.states.count - 1] = state
        }
        try noteCommit(log)
        reach.commits += 1
        reach.wideCommits += 1
    }

    /// Begins, continues, completes, drops or places a large value that is written beside transactions.
    private func upload(_ log: Log) throws {
        switch random.below(6) {
        case 0 where uploads.count < 3:
            uploads.append((try log.beginUpload(), []))
        case 0...2 where !uploads.isEmpty:
            let place = random.below(uploads.count)
            let bytes = random.bytes(random.pick([10, 900, 3_000, 70_000]))
            try bytes.withUnsafeBytes { try uploads[place].upload.append($0) }
            uploads[place].bytes += bytes
        case 3 where !uploads.isEmpty:
            let (upload, bytes) = uploads.remove(at: random.below(uploads.count))
            if random.oneIn(4) { return upload.cancel() }
            waiting.append((try upload.finish(), bytes))
            reach.uploads += 1
        case 4...5 where !waiting.isEmpty:
            let (upload, bytes) = waiting.remove(at: random.below(waiting.count))
            // One that was placed, or rolled back, is copied the next time.
            if random.oneIn(4) { waiting.append((upload, bytes)) }
            if random.oneIn(8) { return try abandon(log, placing: upload) }
            try place(upload, bytes, log)
        default:
            uploads.append((try log.beginUpload(), []))
        }
        if uploads.count > 4 { uploads.removeFirst().upload.cancel() }
    }

    private func place(_ upload: FinishedUpload, _ bytes: [UInt8], _ log: Log) throws {
        var state = states[states.count - 1]
        states.append(state)
        _ = try log.write(author: nil) { transaction in
            if self.random.oneIn(2) { _ = try self.change(&transaction, &state) }
            try self.makeRoomForABlob(&transaction, &state)
            let id = try transaction.putBlob(upload, owner: Self.owner)
            state.blobs[id] = bytes
            self.states[self.states.count - 1] = state
        }
        try noteCommit(log)
        reach.commits += 1
        reach.placedUploads += 1
    }

    private func abandon(_ log: Log, placing upload: FinishedUpload) throws {
        do {
            _ = try log.write(author: nil) { transaction in
                _ = try transaction.putBlob(upload, owner: Self.owner)
                throw Abandonment()
            }
        } catch is Abandonment {}
        reach.abandoned += 1
    }

    private struct Abandonment: Error {}

    private func abandon(_ log: Log) throws {
        var state = states[states.count - 1]
        let recordCount = 1 + random.below(20)
        do {
            _ = try log.write(author: nil) { transaction in
                for _ in 0..<recordCount { _ = try self.change(&transaction, &state) }
                if self.random.oneIn(3) { try self.putBlob(&transaction, &state, 900) }
                throw Abandonment()
            }
        } catch is Abandonment {}
        reach.abandoned += 1
    }

    private func dropTable(_ log: Log) throws {
        // Only a table without indexes: to drop one with indexes, the caller must remove its entries.
        let table = TableID(rawValue: 18)
        var state = states[states.count - 1]
        state.rows[table] = nil
        states.append(state)
        _ = try log.write(author: nil) { transaction in
            try transaction.dropTable(table)
            try transaction.put(1, [1, 2, 3], in: table)
            state.rows[table] = [1: [1, 2, 3]]
            self.states[self.states.count - 1] = state
        }
        try noteCommit(log)
        reach.tableDrops += 1
    }

    /// Writes one random record.
    ///
    /// - Returns: About the number of bytes written.
    private func change(_ transaction: inout Transaction, _ state: inout CrashModel) throws -> Int {
        let table = TableID(rawValue: UInt16(16 + random.below(3)))
        var rows = state.rows[table] ?? [:]
        let ids = rows.keys.sorted()
        defer { state.rows[table] = rows }
        if !ids.isEmpty, random.oneIn(5) || ids.count > 60 {
            let id = random.pick(ids)
            try unindex(&transaction, table, id, rows[id] ?? [])
            try transaction.delete(id, in: table)
            rows[id] = nil
            reach.deletes += 1
            return 40
        }
        let isUpdate = !ids.isEmpty && random.oneIn(2)
        let id = isUpdate ? random.pick(ids) : try transaction.allocateIDs(1, in: table)
        var row = random.bytes(8 + random.below(random.oneIn(8) ? 600 : 60))
        if table.rawValue == 17 { row[0] &= 3 }
        if isUpdate { try unindex(&transaction, table, id, rows[id] ?? []) }
        try put(&transaction, table, id, row, changed: isUpdate ? 1 : nil)
        rows[id] = row
        return row.count + 32
    }

    /// Writes a record and its index entries.
    private func put(
        _ transaction: inout Transaction, _ table: TableID, _ id: RecordID, _ row: [UInt8], changed: UInt64? = nil
    ) throws {
        try transaction.put(id, row, in: table, changed: changed)
        for (definition, key) in CrashDeriver.entries(of: table, id: id, row: row) {
            try key.withUnsafeBytes { try transaction.insertEntry(definition, key: $0, id: id) }
        }
    }

    private func unindex(_ transaction: inout Transaction, _ table: TableID, _ id: RecordID, _ row: [UInt8]) throws {
        for (definition, key) in CrashDeriver.entries(of: table, id: id, row: row) {
            try key.withUnsafeBytes { try transaction.removeEntry(definition, key: $0, id: id) }
        }
    }

    private func putBlob(_ transaction: inout Transaction, _ state: inout CrashModel, _ byteCount: Int) throws {
        try makeRoomForABlob(&transaction, &state)
        let bytes =
            random.oneIn(2) ? random.bytes(byteCount) : [UInt8](repeating: UInt8(random.below(256)), count: byteCount)
        let id = try bytes.withUnsafeBytes { try transaction.putBlob($0, owner: Self.owner) }
        state.blobs[id] = bytes
        reach.blobs += 1
    }

    private static let owner = BlobOwner(table: TableID(rawValue: 16), slot: 1, id: 1)

    /// Deletes a blob now and then.
    private func makeRoomForABlob(_ transaction: inout Transaction, _ state: inout CrashModel) throws {
        guard let old = state.blobs.keys.sorted().first, random.oneIn(2) || state.blobs.count > 3 else { return }
        try transaction.deleteBlob(old)
        state.blobs[old] = nil
    }
}

extension Transaction {
    package mutating func put(_ id: RecordID, _ bytes: [UInt8], in table: TableID, changed: UInt64? = nil)
        throws(LogError)
    {
        try put(id, in: table, layout: 1, changed: changed, flags: [], byteCount: bytes.count) { target in
            target.copyBytes(from: bytes)
        }
    }
}
