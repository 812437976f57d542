import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Glibc

// What fails for a while, and is right again afterwards.

extension ModelLife {
    /// A transaction on a disk that is nearly full: it takes place, or is refused and takes place when there is space.
    func fillDisk(_ random: inout Seed) throws {
        let unlimited = disk.byteCapacity
        let free = try disk.freeByteCount(in: "/d")
        disk.byteCapacity = unlimited - Int(free) + random.pick([0, 100, 5_000])
        let byteCount = random.pick([10, 3_000, 90_000])
        let row = ModelRow(key: nil, payload: random.bytes(byteCount))
        let table = random.pick(state.tableNumbers)
        try unseen {
            let isCommitted = try attempt(.fullDisk) { try commit { try insert(row, in: table, &$0) } }
            try attempt(.fullDisk) { try log.checkpoint() }
            try glance()
            disk.byteCapacity = unlimited
            if !isCommitted { try commit { try insert(row, in: table, &$0) } }
        }
        try glance()
    }

    /// - Returns: Whether the work was done; false if it was refused for one of these reasons.
    @discardableResult
    private func attempt(_ codes: LogError.Code..., doing work: () throws -> Void) throws -> Bool {
        do {
            try work()
            return true
        } catch let error as LogError where codes.contains(error.code) {
            return false
        }
    }

    /// One read of the disk fails: an error, or right bytes; and right bytes the next time.
    func failRead(_ random: inout Seed) throws {
        let ordinal = random.below(6)
        failing.arm(DiskFault(of: [.read], ordinal: ordinal, errorNumber: EIO))
        try unseen {
            try attempt(.failedDisk) { try compare(log.snapshot(), state, "while a read fails") }
        }
        failing.disarm()
        if let failure = log.failure { throw ModelViolation("a failed read stops all writing: \(failure)") }
        try compare(log.snapshot(), state, "after a failed read")
    }

    /// The synchronization of a commit fails: nobody knows whether it landed, until the store is opened again.
    func failCommit(_ random: inout Seed) throws {
        let before = state
        let row = ModelRow(key: nil, payload: random.bytes(30))
        try unseen {
            failing.arm(DiskFault { $0.kind == .synchronize && $0.site == "log.commit" })
            // A thread may meet the fault first: then the log refuses the transaction before it begins.
            var isTried = false
            let isAcknowledged = try attempt(.outcomeUnknown, .poisoned) {
                try commit {
                    try insert(row, in: 18, &$0)
                    isTried = true
                }
            }
            failing.disarm()
            guard log.failure != nil else { return }
            if !isAcknowledged { try compare(log.snapshot(), before, "after a commit of unknown outcome") }
            let after = draft
            guard try !attempt(.poisoned, doing: { try commit { try insert(row, in: 18, &$0) } }) else {
                throw ModelViolation("a store takes commits after one failed")
            }
            try forgetDropped()
            log.abandonForTests()
            move(to: disk.afterProcessDeath())
            log = try Self.open(failing, options)
            try dropIndexesOfNoTable()
            try expectRemembered()
            let isThere = try isTried && difference(log.snapshot(), after) == nil
            guard isThere || !isAcknowledged else { throw ModelViolation("an acknowledged commit is gone") }
            state = isThere ? after : before
            settle()
            if !isThere { try commit { try insert(row, in: 18, &$0) } }
        }
        try compare(log.snapshot(), state, "after a failed commit")
    }

    /// A checkpoint cannot be written: nothing is lost, and the next one can.
    func failCheckpoint(_ random: inout Seed) throws {
        let part = random.pick(["/t-", "/r-"])
        failing.arm(DiskFault(of: [.write, .synchronize], on: part, ordinal: random.below(3), errorNumber: EIO))
        try attempt(.failedDisk) { try log.checkpoint() }
        failing.disarm()
        try compare(log.snapshot(), state, "after a failed checkpoint")
        try log.checkpoint()
        settle()
    }
}
