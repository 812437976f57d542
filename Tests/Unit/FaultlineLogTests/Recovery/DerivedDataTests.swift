import FaultlineDisk
import FaultlineLog
import FaultlineRepair
import FaultlineTestSupport
import Testing

/// Damage of any part of a checkpoint or a run: the store opens, answers as before, and reports the rebuilt files.
struct DerivedDataTests {
    private static let objectCount = 2_000

    /// A store whose index is younger than most of its rows: their entries were added without records.
    ///
    /// - Returns: The store, closed, and each object's row.
    private func store() throws -> (Store, [RecordID: [UInt8]]) {
        let store = Store()
        let log = try store.open(deriver: CatalogDeriver())
        var rows: [RecordID: [UInt8]] = [:]
        let ids = try log.write(author: nil) { transaction in
            try transaction.put(CatalogDeriver.record, [0], in: .catalog)
            var ids: [RecordID] = []
            for number in 0..<Self.objectCount {
                let id = try transaction.allocateIDs(1, in: testTable)
                rows[id] = row(number)
                try transaction.putRow(id, row(number), isNew: true)
                ids.append(id)
            }
            return ids
        }.value
        // An update that no index recorded.
        _ = try log.write(author: nil) { transaction in
            for id in ids.prefix(100) {
                rows[id] = row(Int(id) + 10_000)
                try transaction.putRow(id, row(Int(id) + 10_000), isNew: false)
            }
            // The index is built.
            for (id, row) in rows {
                try row.withUnsafeBytes { try transaction.insertEntry(Self.index, key: $0, id: id) }
            }
        }
        try log.checkpoint()
        _ = try log.write(author: nil) { transaction in
            try transaction.put(CatalogDeriver.record, [1], in: .catalog)
            for id in ids.suffix(10) {
                try transaction.erase(id)
                rows[id] = nil
            }
        }
        try log.close()
        return (store, rows)
    }

    private static let index = WholeRowDeriver.index

    private func open(_ store: Store, _ options: LogOptions = Store.options) throws -> Log {
        try store.open(options, deriver: CatalogDeriver())
    }

    /// Checks that every object and every key is there, and nothing else.
    private func expectWhole(_ log: Log, _ rows: [RecordID: [UInt8]], _ when: String) throws {
        let snapshot = log.snapshot()
        #expect(snapshot.recordCount(of: testTable) == rows.count, "\(when)")
        var wrong = 0
        for (id, row) in rows {
            if try snapshot.row(id) != row { wrong += 1 }
            if try snapshot.firstID(row) != id { wrong += 1 }
        }
        // A row from before the index, which was changed.
        if try snapshot.firstID(row(50)) != nil { wrong += 1 }
        #expect(wrong == 0, "\(when)")
        #expect(snapshot.nextID(of: testTable) == RecordID(Self.objectCount) + 1, "\(when)")
    }

    /// The part that is damaged.
    enum Part: CaseIterable { case header, footer, map, page, runHeader, runFooter, runBlock, runFilter }

    /// Changes a byte in the newest file.
    private func rot(_ part: Part, in store: Store) throws -> String {
        let isRun = [.runHeader, .runFooter, .runBlock, .runFilter].contains(part)
        let files = store.files(isRun ? .indexRun : .tableCheckpoint)
        // The map in force, or the file with most of the pages or entries.
        let path = try #require(
            part == .map ? files.last : files.first { path in try store.disk.contents(path).count > 20_000 })
        let bytes = try store.disk.contents(path)
        let offset =
            switch part {
            case .header, .runHeader: 20
            case .footer, .runFooter: bytes.count - 10
            // The last pages' entries.
            case .map: bytes.count - 64 - 16
            // The third page of the table's six.
            case .page: 4_096 * 4 + 1_000
            case .runBlock: 30_000
            case .runFilter: bytes.count - 128 - 400
            }
        try store.disk.overwrite(path, at: offset, [bytes[offset] ^ 0x20])
        return path
    }

    /// Reads everything; returns the first error.
    private func read(_ log: Log, _ rows: [RecordID: [UInt8]]) -> LogError? {
        do {
            for (id, row) in rows {
                _ = try log.snapshot().row(id)
                _ = try log.snapshot().firstID(row)
            }
            return nil
        } catch {
            return error as? LogError
        }
    }

    @Test(arguments: Part.allCases, [false, true]) func isMadeAgainWhateverRots(part: Part, isKilled: Bool) throws {
        let (store, rows) = try store()
        let path = try rot(part, in: store)
        let name = try #require(path.split(separator: "/").last.map(String.init))
        var log = try open(store)
        if [.page, .runBlock, .runFilter].contains(part) {
            // The first reader meets it: it gets an error with the remedy, and the next opening rebuilds it.
            #expect(log.openReport.wasClean)
            let error = try #require(read(log, rows))
            #expect(error.code == .damaged && error.path == path && error.offset != nil)
            #expect(error.message.contains("Open the store again"))
            // Other rows are written in the meantime.
            try log.insert([row(77)], in: plainTable)
            if isKilled { log.abandonForTests() } else { try log.close() }
            log = try open(store)
        }
        #expect(log.openReport.ignoredDerivedFiles.contains(name))
        try expectWhole(log, rows, "made again")
        #expect(try log.findings().allSatisfy { $0.path == path })
        // Until a checkpoint is made it is rebuilt at each opening, with the same result.
        log.abandonForTests()
        log = try open(store)
        try expectWhole(log, rows, "made again twice")
        if isKilled {
            try log.checkpoint()
            log.abandonForTests()
        } else {
            try log.close()
        }
        log = try open(store)
        #expect(log.openReport.ignoredDerivedFiles.isEmpty)
        #expect(log.openReport.wasClean == !isKilled)
        try expectWhole(log, rows, "stored again")
        #expect(try log.findings().isEmpty)
    }

    @Test func isMadeAgainWhereTheReplayMeetsIt() throws {
        let (store, written) = try store()
        var rows = written
        var log = try open(store)
        _ = try log.write(author: nil) { transaction in
            for id in rows.keys.sorted() {
                rows[id] = row(Int(id) + 50_000)
                try transaction.put(id, row(Int(id) + 50_000))
            }
        }
        log.abandonForTests()
        let path = try rot(.page, in: store)
        for access in [LogAccess.reading, .writing] {
            var options = Store.options
            options.access = access
            log = try open(store, options)
            #expect(log.openReport.ignoredDerivedFiles.contains { path.hasSuffix($0) })
            try expectWhole(log, rows, "\(access)")
            log.abandonForTests()
        }
    }

    @Test(arguments: Part.allCases) func isFoundByWhoeverOnlyReads(part: Part) throws {
        let (store, rows) = try store()
        let path = try rot(part, in: store)
        // Met during reads; the next opening then ignores the file.
        for _ in 0..<2 {
            var options = Store.options
            options.access = .reading
            let log = try open(store, options)
            let findings = try log.findings()
            #expect(findings.contains { $0.kind == .damage && $0.path == path }, "\(findings)")
            log.abandonForTests()
        }
        // A writer repairs it, and it is not found again.
        let log = try open(store)
        _ = read(log, rows)
        log.abandonForTests()
        try open(store).close()
        #expect(try open(store).findings().isEmpty)
    }

    @Test func isNotWrittenDownByASnapshotThatOutlivesItsLog() throws {
        for isClosed in [true, false] {
            let (store, rows) = try store()
            let log = try open(store)
            let snapshot = log.snapshot()
            if isClosed { try log.close() } else { log.abandonForTests() }
            _ = try rot(.page, in: store)
            let before = store.disk.operationCount
            let error = #expect(throws: LogError.self) { for id in rows.keys { _ = try snapshot.row(id) } }
            #expect(error?.code == .damaged)
            // The store may belong to another process by now.
            #expect(store.disk.operationCount == before)
        }
    }

    @Test func isNotedByWhoeverReadsIt() throws {
        // A transaction's look-up, a merge, a checkpoint, a verification.
        let (store, rows) = try store()
        let readings: [(Part, (Log) throws -> Void)] = [
            (
                .runBlock,
                { log in _ = try log.write(author: nil) { for row in rows.values { _ = try $0.firstID(row) } } }
            ),
            (.page, { log in _ = try log.write(author: nil) { for id in rows.keys { try $0.put(id, [1]) } } }),
            (.runBlock, { log in _ = try log.findings() }),
            (.page, { log in _ = try log.findings() }),
            (
                .runBlock,
                { log in
                    for number in 0..<8 {
                        try log.insert([row(90_000 + number)])
                        try log.checkpoint()
                    }
                }
            ),
        ]
        for (number, (part, reading)) in readings.enumerated() {
            let rotten = Store(store.disk.afterProcessDeath())
            let path = try rot(part, in: rotten)
            let log = try open(rotten)
            do {
                try reading(log)
            } catch let error as LogError {
                #expect(error.code == .damaged, "\(number)")
            }
            log.abandonForTests()
            let again = try open(rotten)
            #expect(again.openReport.ignoredDerivedFiles.contains { path.hasSuffix($0) }, "\(number)")
            #expect(read(again, rows) == nil, "\(number)")
            try again.close()
            #expect(try open(rotten).openReport.ignoredDerivedFiles.isEmpty, "\(number)")
        }
    }
}

/// Each row of table 16 is its own key in the unique index 1, if the catalog says that there is one.
private final class CatalogDeriver: IndexDeriver {
    static let record: RecordID = 1

    private let whole = WholeRowDeriver()
    private let lock = EngineLock()
    // Safe because it is guarded by the lock.
    nonisolated(unsafe) private var hasIndex = false

    func catalogChanged(_ read: (RecordID) throws(LogError) -> [UInt8]?) throws(LogError) {
        let row = try read(Self.record)
        lock.withLock { hasIndex = row == [1] }
    }

    func indexes(of table: TableID) -> [IndexDefinition] {
        lock.withLock { hasIndex } ? whole.indexes(of: table) : []
    }

    func deriveEntries(
        table: TableID, layout: UInt16, id: RecordID, row: UnsafeRawBufferPointer, hasExtension: Bool,
        emit: (IndexID, UnsafeRawBufferPointer) -> Void
    ) {
        guard !indexes(of: table).isEmpty else { return }
        whole.deriveEntries(
            table: table, layout: layout, id: id, row: row, hasExtension: hasExtension, emit: emit)
    }
}

extension Transaction {
    /// Writes a row of table 16 while it has no index.
    fileprivate mutating func putRow(_ id: RecordID, _ row: [UInt8], isNew: Bool) throws(LogError) {
        try put(
            id, in: testTable, layout: 1, changed: isNew ? nil : 1, flags: .noIndexChange, byteCount: row.count
        ) { $0.copyBytes(from: row) }
    }
}
