import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Testing

struct BatchLookUpTests {
    /// A log with entries in several runs and a memtable; every third of them deleted later.
    private func fill(_ log: Log) throws -> [[UInt8]: RecordID] {
        var model: [[UInt8]: RecordID] = [:]
        for part in 0..<6 {
            let rows = (0..<300).map { row(($0 * 6 + part) * 2, byteCount: 24) }
            for (row, id) in zip(rows, try log.insert(rows)) { model[row] = id }
            _ = try log.write(author: nil) { transaction in
                for (key, id) in model where id % 3 == 0 {
                    try transaction.erase(id)
                    model[key] = nil
                }
            }
            if part < 5 { try log.checkpoint() }
        }
        return model
    }

    @Test func findsWhatSingleLookUpsFind() throws {
        let log = try Store().open()
        let model = try fill(log)
        #expect(try log.usage().runCount >= 2)
        let snapshot = log.snapshot()
        // The numbers between are nobody's.
        let keys = (0..<3_700).map { row($0, byteCount: 24) }
        for count in [0, 1, 31, 32, 33, 100, keys.count] {
            let found = try snapshot.firstIDs(Array(keys[..<count]))
            #expect(found == keys[..<count].map { model[$0] ?? 0 })
        }
        let prefetched = try log.write(author: nil) { try $0.prefetchedIDs(keys) }.value
        #expect(prefetched == keys.map { model[$0] })
    }

    @Test func findsNothingInAnIndexThatIsNotThere() throws {
        let log = try Store().open()
        #expect(try log.snapshot().firstIDs([row(1), row(2)]) == [0, 0])
        let prefetched = try log.write(author: nil) { try $0.prefetchedIDs([row(1)]) }.value
        #expect(prefetched == [nil])
    }

    @Test func seesWhatItsTransactionDoesToPrefetchedKeys() throws {
        let log = try Store().open()
        let ids = try log.insert([row(1), row(2)])
        _ = try log.write(author: nil) { transaction in
            #expect(try transaction.prefetchedIDs([row(1), row(3), row(4)]) == [ids[0], nil, nil])
            let id = try transaction.insert(row(3))
            #expect(try transaction.firstID(row(3)) == id)
            try transaction.put(id, row(4))
            #expect(try transaction.firstID(row(3)) == nil)
            #expect(try transaction.firstID(row(4)) == id)
        }
        // The next transaction begins anew.
        _ = try log.write(author: nil) { transaction in
            let found = (try transaction.firstID(row(3)), try transaction.firstID(row(4)))
            #expect(found == (nil, 3))
        }
    }

    /// What a batch found absent is forgotten with a transaction that is given up, too.
    @Test func forgetsWithTheTransaction() throws {
        struct GivenUp: Error {}
        let log = try Store().open()
        try log.insert([row(1)])
        #expect(throws: GivenUp.self) {
            try log.write(author: nil) { transaction in
                #expect(try transaction.prefetchedIDs([row(7)]) == [nil])
                throw GivenUp()
            }
        }
        let id = try log.insert([row(7)])[0]
        let found = try log.write(author: nil) { try $0.firstID(row(7)) }.value
        #expect(found == id)
    }

    /// Entries of a large transaction go to runs before it ends; keys that were absent before are not any more.
    @Test func findsSpilledEntriesOfPrefetchedKeys() throws {
        var options = Store.options
        options.memoryBudget = 1 << 20
        options.frameByteCount = 20_000
        let log = try Store().open(options)
        _ = try log.write(author: nil) { transaction in
            for start in stride(from: 0, to: 6_000, by: 100) {
                let keys = (start..<start + 100).map { row($0, byteCount: 24) }
                #expect(try transaction.prefetchedIDs(keys) == keys.map { _ in nil })
                for key in keys { _ = try transaction.insert(key) }
                for (number, key) in keys.enumerated() {
                    #expect(try transaction.firstID(key) == UInt64(start + number + 1))
                }
            }
            #expect(try transaction.prefetchedIDs([row(17, byteCount: 24)]) == [18])
        }
        #expect(try log.findings().isEmpty)
    }

    /// The batch asks each filter once; the look-ups behind it ask nobody.
    @Test func answersAbsentKeysFromTheBatch() throws {
        let counting = CountingDisk(over: SimulatedDisk(directories: ["/d"]))
        let log = try Store().open(on: counting)
        _ = try fill(log)
        try log.checkpoint()
        let absent = (0..<64).map { row($0 * 2 + 1, byteCount: 24) }
        _ = try log.write(author: nil) { transaction in
            let unprepared = try reads(of: absent, transaction, log, counting)
            transaction.prefetchKeys(absent)
            let prepared = try reads(of: absent, transaction, log, counting)
            // But for what the filters let through.
            #expect(prepared <= 10 && unprepared >= 64)
        }
    }

    /// The reads that single look-ups of absent keys take when nothing is in the cache.
    private func reads(
        of absent: [[UInt8]], _ transaction: borrowing Transaction, _ log: Log, _ disk: CountingDisk
    ) throws -> Int {
        let before = disk.counts
        for key in absent {
            // All that may go, goes.
            log.budget.reserve(1 << 30, for: .buffers)
            log.budget.release(1 << 30, for: .buffers)
            let found = try transaction.firstID(key)
            #expect(found == nil)
        }
        return (disk.counts - before).reads
    }

    @Test func saysWhatCannotBeRead() throws {
        let store = Store()
        let log = try store.open()
        let ids = try log.insert((0..<2_000).map { row($0) })
        try log.checkpoint()
        let path = try #require(store.files(.indexRun).first)
        let bytes = try store.disk.contents(path)
        // All but the header and the footer.
        try store.disk.overwrite(path, at: 64, [UInt8](repeating: 0x55, count: bytes.count - 192))
        #expect(code { _ = try log.snapshot().firstIDs([row(5)]) } == .damaged)
        #expect(code { _ = try log.snapshot().firstID(row(5)) } == .damaged)
        let inTransaction = code {
            _ = try log.write(author: nil) { transaction in
                transaction.prefetchKeys([row(5)])
                _ = try transaction.firstID(row(5))
            }
        }
        #expect(inTransaction == .damaged)
        #expect(!(try log.findings().isEmpty))
        // What the error advises.
        try log.close()
        try store.disk.replace(path, with: [])
        let again = try store.open()
        #expect(again.openReport.ignoredDerivedFiles.count == 1)
        #expect(try again.snapshot().firstIDs([row(5)]) == [ids[5]])
        #expect(try again.findings().isEmpty)
    }
}

/// The keys as a batch of look-ups takes them, valid during the call.
private func withKeys<R>(_ keys: [[UInt8]], _ body: (UnsafeBufferPointer<UnsafeRawBufferPointer>) throws -> R) rethrows
    -> R
{
    let bytes = keys.flatMap { $0 }
    return try bytes.withUnsafeBytes { all in
        var offset = 0
        let places = keys.map { key in
            defer { offset += key.count }
            return UnsafeRawBufferPointer(rebasing: all[offset..<offset + key.count])
        }
        return try places.withUnsafeBufferPointer(body)
    }
}

extension Transaction {
    func prefetchKeys(_ keys: [[UInt8]]) {
        withKeys(keys) { prefetchKeys(in: WholeRowDeriver.index, $0) }
    }

    /// Looks keys up after a batch.
    fileprivate func prefetchedIDs(_ keys: [[UInt8]]) throws -> [RecordID?] {
        prefetchKeys(keys)
        var ids: [RecordID?] = []
        for key in keys { ids.append(try firstID(key)) }
        return ids
    }
}

extension Snapshot {
    /// Looks keys up together; 0 where nobody has one.
    func firstIDs(_ keys: [[UInt8]]) throws -> [RecordID] {
        try withKeys(keys) { keys in
            try [RecordID](unsafeUninitializedCapacity: keys.count) { ids, count in
                count = keys.count
                ids.initialize(repeating: 99)
                guard let start = ids.baseAddress else { return }
                try firstIDs(of: keys, in: WholeRowDeriver.index, into: start)
            }
        }
    }
}
