import FaultlineBackup
import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Testing

/// Backups of a store that has lost bytes which an earlier backup has.
struct BackupAfterPowerLossTests {
    /// The bytes of a lost tail are zeros, or missing, so that the log looks whole.
    @Test(arguments: [1, 5, 40]) func `a power loss does not end a row of backups`(lostCount: Int) throws {
        let store = Store()
        var options = Store.options
        options.durability = .async
        let log = try store.open(options)
        for number in 1...10 { try log.insert([row(number, byteCount: 300)]) }
        try log.checkpoint()
        for number in 11...(10 + lostCount) { try log.insert([row(number, byteCount: 300)]) }
        try store.backup()
        log.abandonForTests()
        let left = Store(store.disk.withOnlyWhatIsDurable())
        let next = try left.open(options)
        let kept = next.snapshot().recordCount(of: testTable)
        try #require(kept < 10 + lostCount)
        // Other bytes in the place of those that were lost.
        for number in 1...60 { try next.insert([row(1_000 + number, byteCount: 310)]) }
        try next.checkpoint()
        try left.backup()
        try next.close()
        try left.restore { restored, _ in
            #expect(restored.snapshot().recordCount(of: testTable) == kept + 60)
        }
        // The earlier backup still has the state of its time.
        try left.restore(.backup(1)) { restored, _ in
            #expect(restored.snapshot().recordCount(of: testTable) == 10 + lostCount)
        }
    }
}
