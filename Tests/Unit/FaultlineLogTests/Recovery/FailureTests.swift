import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Glibc
import Testing

/// Every call of the disk fails once, in every way; the log must stay readable, and everything acknowledged must be
/// there afterwards.
struct FailureTests {
    struct Way: Sendable, CustomTestStringConvertible {
        let name: String
        let errorNumber: Int32
        let effect: DiskFault.Effect
        let isSticky: Bool
        var testDescription: String { name }
    }

    static let ways = [
        Way(name: "error", errorNumber: EIO, effect: .none, isSticky: false),
        Way(name: "error that stays", errorNumber: EIO, effect: .none, isSticky: true),
        Way(name: "full disk", errorNumber: ENOSPC, effect: .writesShare(100), isSticky: true),
        Way(name: "done and reported as failed", errorNumber: EIO, effect: .takesPlace, isSticky: false),
        Way(name: "lost pages", errorNumber: EIO, effect: .losesPages(.keepsNewBytes, seed: 3), isSticky: false),
    ]

    @Test(arguments: ways) func losesNothingAcknowledgedWhenACallFails(_ way: Way) throws {
        var options = Store.options
        options.segmentByteCount = 1_500
        options.frameByteCount = 500
        options.manifestByteCount = 700
        options.manifestGrowth = 1
        options.maintenance = .inline
        options.checkpointByteCount = 2_500
        let step = TestSize.of(1, unoptimized: 4)
        var ordinal = 0
        var hitCount = 0
        while true {
            let store = Store()
            let disk = FailingDisk(over: store.disk)
            disk.arm(
                DiskFault(ordinal: ordinal, errorNumber: way.errorNumber, isSticky: way.isSticky, effect: way.effect))
            let life = Life()
            life.run(store, options, disk)
            let wasHit = disk.hitCount > 0
            disk.disarm()
            // The handle that met the fault still reads everything acknowledged.
            if let log = life.log { #expect(try life.difference(log.snapshot()) == nil, "\(way.name) \(ordinal)") }
            life.log?.abandonForTests()

            for disk in [store.disk.afterProcessDeath(), store.disk.withOnlyWhatIsDurable()] {
                let recovered = try Store(disk).open(options)
                #expect(try life.difference(recovered.snapshot()) == nil, "\(way.name) \(ordinal)")
                #expect(try recovered.findings().isEmpty, "\(way.name) \(ordinal)")
                try recovered.insert([row(77_777)])
                try recovered.close()
            }
            if !wasHit { break }
            hitCount += 1
            // Some calls. `make faults` lets every call fail.
            ordinal += step
        }
        #expect(hitCount * step > 100)
    }

    /// The system reports a failed sync once: the next one of that file proves nothing.
    @Test func acknowledgesNoBlobOfASegmentWhoseSyncFailed() throws {
        var options = Store.options
        options.segmentByteCount = 5_000
        options.isCompressingBlobs = false
        let store = Store()
        let disk = FailingDisk(over: store.disk)
        let log = try store.open(options, on: disk)
        let blob = [UInt8](repeating: 9, count: 6_000)
        disk.arm(
            DiskFault(effect: .losesPages(.keepsNewBytes, seed: nil)) { $0.site == "blob.seal" })

        #expect(throws: LogError.self) {
            try log.write(author: nil) { transaction in
                let owner = BlobOwner(table: testTable, slot: 0, id: 1)
                _ = try blob.withUnsafeBytes { try transaction.putBlob($0, owner: owner) }
                // The second blob continues in another segment; the body hides that this failed.
                _ = try? blob.withUnsafeBytes { try transaction.putBlob($0, owner: owner) }
                _ = try transaction.insert(row(1))
            }
        }

        #expect(disk.hitCount == 1)
        #expect(log.failure != nil)
        log.abandonForTests()
        let recovered = try Store(store.disk.withOnlyWhatIsDurable()).open(options)
        #expect(recovered.snapshot().recordCount(of: testTable) == 0)
        #expect(try recovered.findings().isEmpty)
        try recovered.close()
    }

    /// A workload that continues after failures, with its possible results.
    final class Life {
        var log: Log?
        /// Acknowledged objects by identifier; nil means deleted.
        var certain: [RecordID: Int?] = [:]
        /// The changes of a transaction of unknown outcome.
        var doubtful: [RecordID: Int?] = [:]

        func run(_ store: Store, _ options: LogOptions, _ disk: Disk) {
            do { log = try store.open(options, on: disk) } catch { return }
            guard let log else { return }
            for step in 0..<14 {
                var changes: [RecordID: Int?] = [:]
                do {
                    _ = try log.write(author: nil) { transaction in
                        for place in 0..<(step % 5 == 4 ? 20 : 2) {
                            let number = step * 100 + place
                            changes[try transaction.insert(row(number))] = number
                        }
                        if step > 3, case .some(.some) = certain[2] {
                            try transaction.erase(2)
                            changes.updateValue(nil, forKey: 2)
                        }
                        if step % 3 == 1 {
                            let bytes = [UInt8](repeating: UInt8(step), count: 900)
                            _ = try bytes.withUnsafeBytes {
                                try transaction.putBlob($0, owner: BlobOwner(table: testTable, slot: 0, id: 1))
                            }
                        }
                    }
                    certain.merge(changes) { $1 }
                } catch let error as LogError where error.code == .outcomeUnknown {
                    doubtful = changes
                } catch {}
                if step == 7 { do { try log.checkpoint() } catch {} }
            }
            do {
                try log.close()
            } catch {}
        }

        func difference(_ snapshot: Snapshot) throws -> String? {
            let isFound = try doubtful.allSatisfy { id, number in try snapshot.row(id) == number.map { row($0) } }
            let expected = isFound ? certain.merging(doubtful) { $1 } : certain
            for (id, number) in expected where try snapshot.row(id) != number.map({ row($0) }) { return "object \(id)" }
            let count = expected.values.count { $0 != nil }
            return snapshot.recordCount(of: testTable) == count
                ? nil : "\(snapshot.recordCount(of: testTable)) objects, expected \(count)"
        }
    }
}
