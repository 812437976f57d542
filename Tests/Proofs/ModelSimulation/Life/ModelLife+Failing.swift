import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Glibc

// Operations with temporary faults.

extension ModelLife {
    /// Runs a transaction on a nearly full disk.
    ///
    /// It is either committed, or refused and committed when there is space again.
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

    /// - Returns: Whether the work was done. If not, it was refused with one of the given codes.
    @discardableResult
    private func attempt(_ codes: LogError.Code..., doing work: () throws -> Void) throws -> Bool {
        do {
            try work()
            return true
        } catch let error as LogError where codes.contains(error.code) {
            return false
        }
    }

    /// Lets one read of the disk fail.
    ///
    /// The result is an error or the right bytes, and the next read returns the right bytes.
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

    /// Lets the synchronization of a commit fail.
    ///
    /// The outcome is unknown until the store is reopened.
    func failCommit(_ random: inout Seed) throws {
        let before = state
        let row = ModelRow(key: nil, payload: random.bytes(30))
        try unseen {
            failing.arm(DiskFault { $0.kind == .synchronize && $0.site == "log.commit" })
            // If a thread meets the fault first, the log refuses the transaction before it begins.
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

    /// Lets a checkpoint fail.
    ///
    /// No data is lost, and the next checkpoint succeeds.
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
