import FaultlineBackup
import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Synchronization
import Testing

/// The window of past states: its setting, and the operations that end it.
struct RetentionTests {
    private static let always = RetentionWindow(nanoseconds: .max, byteCount: .max)

    private static var options: LogOptions {
        var options = Store.options
        options.segmentByteCount = 4_000
        return options
    }

    private static func open(_ store: Store, _ window: RetentionWindow?) throws -> Log {
        var options = options
        options.retention = window
        return try store.open(options)
    }

    private static func churn(_ log: Log, _ number: Int) throws {
        try log.churn(number, objectCount: 20, byteCount: 300)
    }

    private static func canRead(_ sequence: UInt64, of store: Store) -> Bool {
        do {
            return try PastState(of: Store.path, on: store.disk, at: .transaction(sequence)).last.transaction
                == sequence
        } catch {
            #expect((error as? BackupError)?.code == .notInLog)
            return false
        }
    }

    private static func retainedFiles(_ store: Store) throws -> [String] {
        let folder = Store.path + "/" + FileName.retained
        guard try store.disk.isPresent(folder) else { return [] }
        return try store.disk.names(in: folder).filter(FileName.isOfStore)
    }

    @Test func `a store keeps nothing unless it is asked to`() throws {
        let store = Store()
        let log = try Self.open(store, nil)
        for number in 1...3 { try Self.churn(log, number) }
        #expect(!Self.canRead(5, of: store))
        #expect(try !store.disk.isPresent(Store.path + "/" + FileName.retained))
        try log.close()
    }

    /// The store after a kill at each operation of its first compaction, and the newest transaction before that.
    private static func killedInCompaction() throws -> (stores: [Store], newest: UInt64) {
        let store = Store()
        let log = try open(store, always)
        for number in 1...3 {
            _ = try log.write(author: nil) { transaction in
                let id = try transaction.allocateIDs(20, in: testTable)
                for id in id..<id + 20 {
                    try transaction.put(id, [UInt8](repeating: UInt8(number), count: 300), in: testTable)
                }
            }
        }
        let newest = log.snapshot().sequence
        try log.checkpoint()
        _ = try log.write(author: nil) { transaction in
            for id in 1...RecordID(30) { try transaction.delete(id, in: testTable) }
        }
        let killed = Guarded<[Store]>([])
        store.disk.onOperation = { disk, _ in killed.withLock { $0.append(Store(disk.afterProcessDeath())) } }
        _ = try log.compact()
        try log.checkpoint()
        store.disk.onOperation = nil
        try log.close()
        return (killed.withLock { $0 }, newest)
    }

    @Test func `a kill at any moment of compaction leaves all states`() throws {
        let (killed, newest) = try Self.killedInCompaction()
        #expect(killed.count > 20)
        for (place, store) in killed.enumerated() {
            try Self.open(store, nil).abandonForTests()
            for sequence in 0...newest {
                #expect(Self.canRead(sequence, of: store), "operation \(place), transaction \(sequence)")
            }
        }
    }

    @Test func `the window has states behind damage in the old log`() throws {
        let (killed, _) = try Self.killedInCompaction()
        var count = 0
        for store in killed {
            let first = try #require(store.files(.hotSegment).first)
            let log = try Self.open(store, nil)
            try log.checkpoint()
            _ = try log.write(author: nil) { try $0.delete(40, in: testTable) }
            let sequence = log.snapshot().sequence
            for number in 1...3 {
                _ = try log.write(author: nil) { try $0.delete(40 + RecordID(number), in: testTable) }
                try log.checkpoint()
            }
            try log.close()
            // The log is whole, and a part of it was copied, so that the first checkpoint has listed its tables.
            guard store.files(.hotSegment).contains(first), !store.files(.coldSegment).isEmpty else { continue }
            try store.disk.overwrite(first, at: store.disk.contents(first).count / 2, [0xFF])
            #expect(Self.canRead(sequence, of: store))
            count += 1
        }
        #expect(count > 0)
    }

    @Test func `a closed store has no open files`() throws {
        let store = Store()
        for _ in 0..<2 {
            let log = try Self.open(store, Self.always)
            for number in 1...3 { try Self.churn(log, number) }
            try log.close()
        }
        #expect(store.disk.openHandleCount == 0)
    }

    @Test func `the window stays until another one is set`() throws {
        let store = Store()
        try Self.open(store, Self.always).close()
        var log = try Self.open(store, nil)
        for number in 1...3 { try Self.churn(log, number) }
        #expect(Self.canRead(5, of: store))
        #expect(log.figures.space.retainedByteCount > 1_000)
        #expect(try log.usage().retainedByteCount >= log.figures.space.retainedByteCount)
        try log.close()
        log = try Self.open(store, RetentionWindow.none)
        try Self.churn(log, 4)
        #expect(!Self.canRead(5, of: store))
        #expect(try Self.retainedFiles(store) == [])
        try log.close()
        log = try Self.open(store, nil)
        for number in 5...7 { try Self.churn(log, number) }
        #expect(try Self.retainedFiles(store) == [])
        try log.close()
    }

    @Test func `a window file that does not verify keeps nothing`() throws {
        let store = Store()
        try Self.open(store, Self.always).close()
        let path = Store.path + "/" + FileName.retained + "/WINDOW"
        let bytes = try store.disk.contents(path)
        for place in bytes.indices {
            let damaged = store.killed
            var changed = bytes
            changed[place] ^= 0x11
            try damaged.disk.replace(path, with: changed)
            let log = try Self.open(damaged, nil)
            for number in 1...2 { try Self.churn(log, number) }
            #expect(!Self.canRead(1, of: damaged), "byte \(place)")
            try log.close()
        }
    }

    @Test func `a return to the kept state ends the states behind it`() throws {
        let store = Store()
        let log = try Self.open(store, Self.always)
        for number in 1...2 { try Self.churn(log, number) }
        let kept = log.snapshot().sequence
        try log.keepState(for: 1_000)
        for number in 3...5 { try Self.churn(log, number) }
        try log.returnToKeptState()
        let again = try Self.open(store, nil)
        #expect(again.snapshot().sequence == kept)
        #expect(!Self.canRead(kept + 5, of: store))
        for number in 6...8 { try Self.churn(again, number) }
        // These numbers were used before.
        for sequence in kept + 1...again.snapshot().sequence where Self.canRead(sequence, of: store) {
            let past = try PastState(of: Store.path, on: store.disk, at: .transaction(sequence))
            let read = try past.opened()
            let change = Int(sequence - kept - 1)
            let expected = row((6 + change / 20) * 100 + 1 + change % 20, byteCount: 300)
            #expect(try read.snapshot().row(RecordID(1 + change % 20)) == expected, "\(sequence)")
            try read.close()
        }
        #expect(Self.canRead(kept + 25, of: store))
        try again.close()
    }

    @Test func `a damaged listing is reported, and the next opening goes on without it`() throws {
        let store = Store()
        let log = try Self.open(store, Self.always)
        for number in 1...3 { try Self.churn(log, number) }
        log.abandonForTests()
        let folder = Store.path + "/" + FileName.retained + "/"
        for name in try Self.retainedFiles(store) where name.hasSuffix(".flm") {
            var bytes = try store.disk.contents(folder + name)
            bytes[FileHeader.byteCount + 100] ^= 1
            try store.disk.replace(folder + name, with: bytes)
        }
        let error = #expect(throws: LogError.self) {
            try PastState(of: Store.path, on: store.disk, at: .transaction(5))
        }
        #expect(error?.code == .damaged && error?.path?.hasPrefix(folder) == true)
        let again = try Self.open(store, nil)
        #expect(!Self.canRead(5, of: store))
        try Self.churn(again, 4)
        let newest = again.snapshot().sequence
        #expect(Self.canRead(newest - 3, of: store))
        #expect(try again.findings().isEmpty)
        try again.close()
    }

    @Test func `a missing file ends the states that need it`() throws {
        let store = Store()
        let log = try Self.open(store, Self.always)
        for number in 1...3 { try Self.churn(log, number) }
        log.abandonForTests()
        let folder = Store.path + "/" + FileName.retained + "/"
        for name in try Self.retainedFiles(store) where name.hasPrefix("s-") { try store.disk.remove(folder + name) }
        let again = try Self.open(store, nil)
        #expect(!Self.canRead(5, of: store))
        for number in 4...5 { try Self.churn(again, number) }
        #expect(Self.canRead(again.snapshot().sequence - 30, of: store))
        try again.close()
    }

    @Test func `a full disk takes the space of past states`() throws {
        let store = Store()
        let log = try Self.open(store, Self.always)
        for number in 1...6 { try Self.churn(log, number) }
        let retained = log.figures.space.retainedByteCount
        #expect(retained > 20_000)
        store.disk.byteCapacity = store.disk.fileSizes.values.reduce(0, +) + 2_000
        var refusedCount = 0
        for number in 7...9 {
            for id in 1...20 {
                do {
                    _ = try log.write(author: nil) { try $0.put(RecordID(id), row(number * 100 + id, byteCount: 300)) }
                } catch let error as LogError {
                    #expect(error.code == .fullDisk)
                    refusedCount += 1
                }
            }
            do { try log.checkpoint() } catch { #expect(error.code == .fullDisk) }
        }
        store.disk.byteCapacity = .max
        #expect(refusedCount < 10)
        #expect(log.figures.space.retainedByteCount < retained)
        #expect(try log.snapshot().row(20) == row(920, byteCount: 300))
        try log.close()
    }
}
