import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Testing

/// A full disk refuses operations that need space, before anything is written.
///
/// Everything else continues, and so does the log when there is space again.
struct FullDiskTests {
    static var options: LogOptions {
        var options = Store.options
        options.segmentByteCount = 200_000
        options.frameByteCount = 3_000
        options.manifestByteCount = 700
        options.manifestGrowth = 1
        options.maintenance = .inline
        options.checkpointByteCount = 30_000
        options.ballastByteCount = 256 << 10
        options.ballastStoreByteCount = 300_000
        return options
    }

    /// Bytes of files, with reserved space.
    private func taken(_ disk: SimulatedDisk) throws -> Int {
        disk.byteCapacity - Int(try disk.freeByteCount(in: "/d"))
    }

    @Test func neverPoisonsTheLogWhereverTheSpaceEnds() throws {
        let fresh = Store()
        try fresh.open(Self.options).close()
        let begun = try taken(fresh.disk)
        var refusals: Set<String> = []
        for extra in stride(from: 0, to: 1_200_000, by: 30_011) {
            let store = Store()
            try store.open(Self.options).close()
            store.disk.byteCapacity = begun + extra
            let log = try store.open(Self.options)
            let expected = try writeUntilRefused(log, "\(extra)", &refusals)
            #expect(log.failure == nil)
            for (id, row) in expected { #expect(try log.snapshot().row(id) == row) }

            // Recovery after a crash at this point.
            for disk in [store.disk.afterProcessDeath(), store.disk.withOnlyWhatIsDurable()] {
                disk.byteCapacity = 1 << 40
                let recovered = try Store(disk).open(Self.options)
                #expect(recovered.snapshot().recordCount(of: testTable) == expected.count)
                #expect(try recovered.findings().isEmpty)
                try recovered.close()
            }

            // There is space again: the same log continues.
            store.disk.byteCapacity = 1 << 40
            try log.insert([row(999_999)])
            try log.close()
            let again = try store.open(Self.options)
            #expect(again.snapshot().recordCount(of: testTable) == expected.count + 1)
            #expect(try again.findings().isEmpty)
            try again.close()
        }
        #expect(refusals == ["write", "checkpoint"])
    }

    /// Makes 60 transactions and three checkpoints, some of which the disk refuses.
    ///
    /// - Returns: The rows that were committed.
    private func writeUntilRefused(
        _ log: Log, _ trial: String, _ refusals: inout Set<String>
    ) throws -> [RecordID: [UInt8]] {
        var committed: [RecordID: [UInt8]] = [:]
        for step in 0..<60 {
            let rows = (0..<20).map { row(step * 100 + $0) + [UInt8](repeating: 7, count: 300) }
            do {
                let (ids, _) = try log.write(author: nil) { transaction in
                    if step % 4 == 1 {
                        let bytes = [UInt8](repeating: UInt8(step), count: 9_000)
                        _ = try bytes.withUnsafeBytes {
                            try transaction.putBlob($0, owner: BlobOwner(table: testTable, slot: 0, id: 1))
                        }
                    }
                    return try rows.map { try transaction.insert($0) }
                }
                for (id, row) in zip(ids, rows) { committed[id] = row }
            } catch let error as LogError {
                #expect(error.code == .fullDisk, "\(trial) \(step): \(error)")
                #expect(error.path != nil && error.message.contains("try again"), "\(error)")
                refusals.insert("write")
            }
            if step % 20 == 10 {
                do {
                    try log.checkpoint()
                } catch {
                    #expect(error.code == .fullDisk, "\(trial) \(step): \(error)")
                    refusals.insert("checkpoint")
                }
            }
        }
        return committed
    }

    /// Fills a store until the disk is full.
    private func fill(
        _ store: Store, _ log: Log, rowByteCount: Int = 300, in table: TableID = testTable
    ) throws -> [RecordID] {
        store.disk.byteCapacity = 4 << 20
        var ids: [RecordID] = []
        while true {
            do {
                ids += try log.insert(
                    (0..<20).map { row(ids.count + $0) + [UInt8](repeating: 7, count: rowByteCount) }, in: table)
            } catch let error as LogError where error.code == .fullDisk {
                return ids
            }
        }
    }

    @Test func deletesHaveWhatWasHeldBackForThem() throws {
        let store = Store()
        let log = try store.open(Self.options)
        let ids = try fill(store, log)
        let ballast = Store.path + "/BALLAST"
        #expect(try store.disk.isPresent(ballast))

        for id in ids.prefix(100) { _ = try log.write(author: nil) { try $0.erase(id) } }

        #expect(try !store.disk.isPresent(ballast))
        #expect(log.snapshot().recordCount(of: testTable) == ids.count - 100)
        // The ballast's space is not for new objects.
        #expect(throws: LogError.self) { try log.insert([row(1)]) }

        store.disk.byteCapacity = 16 << 20
        try log.insert([row(1)])
        #expect(try store.disk.isPresent(ballast))
        #expect(try log.findings().isEmpty)
        try log.close()
    }

    @Test func checkpointsAfterDeletesHaveItToo() throws {
        let store = Store()
        var options = Self.options
        options.ballastByteCount = 512 << 10
        let ballast = Store.path + "/BALLAST"
        var ids: [RecordID] = []
        do {
            let log = try store.open(options)
            ids = try fill(store, log, rowByteCount: 3_000, in: plainTable)
            store.disk.byteCapacity = 1 << 40
            try log.close()
        }
        options.maintenance = .manual
        let again = try store.open(options)
        // Nothing is free except the space reserved for the log: so there is room for the transaction.
        _ = try again.write(author: nil) { try $0.put(ids[0], row(5), in: plainTable) }
        store.disk.byteCapacity = try taken(store.disk)
        #expect(throws: LogError.self) { try again.checkpoint() }
        #expect(try store.disk.isPresent(ballast))
        let before = try taken(store.disk)
        _ = try again.write(author: nil) { transaction in
            for id in ids.dropFirst(150) { try transaction.delete(id, in: plainTable) }
        }
        #expect(try store.disk.isPresent(ballast))

        try again.checkpoint()
        #expect(try !store.disk.isPresent(ballast))
        #expect(throws: LogError.self) { try again.insert([row(1)]) }
        #expect(try again.compact().segmentCount > 0)

        // The ballast is there again as soon as there is space for it, and all transactions are allowed.
        #expect(try store.disk.isPresent(ballast))
        #expect(try taken(store.disk) < before - 500_000)
        try again.insert([row(1)])
        #expect(again.snapshot().recordCount(of: plainTable) == 150)
        #expect(try again.findings().isEmpty)
        try again.close()
    }

    @Test func aStoreThatHasBecomeSmallRefusesNothingForIt() throws {
        let store = Store()
        let log = try store.open(Self.options)
        let ids = try fill(store, log, rowByteCount: 3_000, in: plainTable)
        _ = try log.write(author: nil) { transaction in
            for id in ids.dropFirst(20) { try transaction.delete(id, in: plainTable) }
        }
        try log.compact()
        #expect(try log.usage().segments.reduce(0) { $0 + $1.byteCount } < 300_000)
        // Another program takes nearly all of the space: too little is left for the ballast.
        #expect(try !store.disk.isPresent(Store.path + "/BALLAST"))
        store.disk.byteCapacity = try taken(store.disk) + 400_000
        for number in 0..<20 { try log.insert([row(number)], in: plainTable) }
        #expect(try !store.disk.isPresent(Store.path + "/BALLAST"))
        try log.close()
    }

    @Test func refusedBlobsLeaveWhatWasGivenUpForDeletes() throws {
        let store = Store()
        let log = try store.open(Self.options)
        let ids = try fill(store, log)
        _ = try log.write(author: nil) { try $0.erase(ids[0]) }
        for id in ids[1..<20] where try store.disk.isPresent(Store.path + "/BALLAST") {
            _ = try log.write(author: nil) { try $0.erase(id) }
        }
        let before = try taken(store.disk)
        let image = [UInt8](repeating: 1, count: 20_000)

        for _ in 0..<20 {
            #expect(throws: LogError.self) {
                try log.write(author: nil) { transaction in
                    try image.withUnsafeBytes {
                        try transaction.putBlob($0, owner: BlobOwner(table: testTable, slot: 0, id: 1))
                    }
                }
            }
        }

        #expect(try taken(store.disk) == before)
        _ = try log.write(author: nil) { try $0.erase(ids[30]) }
        log.abandonForTests()
    }

    @Test func opensWithWhatWasHeldBack() throws {
        let store = Store()
        let log = try store.open(Self.options)
        let ids = try fill(store, log)
        log.abandonForTests()
        let killed = store.killed
        killed.disk.byteCapacity = try taken(killed.disk)

        let opened = try killed.open(Self.options)

        #expect(try !killed.disk.isPresent(Store.path + "/BALLAST"))
        #expect(opened.snapshot().recordCount(of: testTable) == ids.count)
        _ = try opened.write(author: nil) { try $0.erase(ids[0]) }
        opened.abandonForTests()
    }

    @Test func givesBackWhatItSetAsideWhenItCloses() throws {
        let store = Store()
        var options = Self.options
        options.ballastStoreByteCount = 1 << 30
        let log = try store.open(options)
        try log.insert((0..<3_000).map { row($0) })
        let whileOpen = try taken(store.disk)
        try log.close()

        let lengths = try store.disk.filePaths.reduce(0) { sum, path in
            let file = try store.disk.open(path, for: .reading)
            defer { file.close() }
            return sum + Int(try file.byteCount())
        }
        #expect(try taken(store.disk) == lengths)
        #expect(whileOpen > lengths)
    }

    @Test func `goes on with the first transaction after there is space again`() throws {
        var options = Self.options
        options.maintenance = .thread
        options.memoryBudget = 100_000
        options.checkpointByteCount = 1 << 20
        options.segmentByteCount = 1 << 20
        var refusedCount = 0
        for round in 0..<40 {
            let store = Store()
            let log = try store.open(options)
            let capacity = store.disk.byteCapacity
            var number = 0
            func insert() throws {
                number += 1
                // Keys that fill memory before the log is long.
                try log.insert((0..<40).map { row(number * 100 + $0) })
            }
            for _ in 0..<20 + round { try insert() }
            store.disk.byteCapacity = try taken(store.disk) + round * 3_001
            do {
                for _ in 0..<200 { try insert() }
            } catch let error as LogError {
                #expect(error.code == .fullDisk, "\(error)")
                refusedCount += 1
            }
            store.disk.byteCapacity = capacity
            try insert()
            try log.close()
        }
        #expect(refusedCount > 30)
    }
}
