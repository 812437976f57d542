import FaultlineBackup
import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Glibc
import Synchronization
import Testing

/// Errors in the folder of past states: the store goes on without them.
struct RetentionFailureTests {
    /// Fails calls in the folder, from one on.
    // Safe because mutable state is guarded.
    private final class FailingDisk: ForwardingDisk, @unchecked Sendable {
        private let calls = Guarded((count: 0, failing: Int.max, last: Int.max))
        private let errorNumber: Int32

        init(over base: Disk, errorNumber: Int32 = EIO) {
            self.errorNumber = errorNumber
            super.init(over: base)
        }

        func fail(from first: Int, through last: Int) { calls.withLock { $0 = (0, first, last) } }
        var callCount: Int { calls.withLock { $0.count } }

        private func check(_ path: String, _ call: SystemCall) throws(DiskError) {
            guard path.contains("/" + FileName.retained) else { return }
            let fails = calls.withLock { calls in
                calls.count += 1
                return calls.count >= calls.failing && calls.count <= calls.last
            }
            if fails { throw DiskError(errorNumber: errorNumber, systemCall: call, path: path) }
        }

        override func open(_ path: String, for access: FileAccess) throws(DiskError) -> DiskFile {
            try check(path, .open)
            return try super.open(path, for: access)
        }
        override func names(in directory: String) throws(DiskError) -> [String] {
            try check(directory, .open)
            return try super.names(in: directory)
        }
        override func createDirectory(_ path: String) throws(DiskError) {
            try check(path, .mkdir)
            try super.createDirectory(path)
        }
        override func remove(_ path: String) throws(DiskError) {
            try check(path, .unlink)
            try super.remove(path)
        }
        override func rename(_ source: String, to target: String) throws(DiskError) {
            try check(target, .rename)
            try super.rename(source, to: target)
        }
        override func synchronizeDirectory(_ path: String, site: SyncSite) throws(DiskError) {
            try check(path, .fsync)
            try super.synchronizeDirectory(path, site: site)
        }
    }

    private static let always = RetentionWindow(nanoseconds: .max, byteCount: .max)

    private static var options: LogOptions {
        var options = Store.options
        options.segmentByteCount = 4_000
        options.retention = always
        return options
    }

    private static func churn(_ log: Log, _ number: Int) throws {
        try log.churn(number, objectCount: 10, byteCount: 600)
    }

    private static func checkState(_ sequence: UInt64, of store: Store, _ states: [UInt64: [UInt8]]) throws {
        do {
            let past = try PastState(of: Store.path, on: store.disk, at: .transaction(sequence))
            let read = try past.opened()
            #expect(try read.snapshot().row(1) == states[sequence])
            try read.close()
        } catch {
            #expect((error as? BackupError)?.code == .notInLog, "\(error)")
        }
    }

    /// One call, or all calls from one on, in each place of a life with two openings.
    @Test(arguments: [EIO, ENOSPC, EACCES], [1, Int.max])
    func `the store works while calls in the folder fail`(errorNumber: Int32, failureCount: Int) throws {
        var first = 1
        var hasFailed = true
        while hasFailed {
            let store = Store()
            let disk = FailingDisk(over: store.disk, errorNumber: errorNumber)
            let last = first.addingReportingOverflow(failureCount - 1)
            disk.fail(from: first, through: last.overflow ? .max : last.partialValue)
            var states: [UInt64: [UInt8]] = [:]
            for round in 0..<2 {
                let log = try store.open(Self.options, on: disk)
                for number in 1...2 {
                    try Self.churn(log, round * 10 + number)
                    states[log.snapshot().sequence] = row((round * 10 + number) * 100 + 1, byteCount: 600)
                }
                try log.close()
            }
            for sequence in states.keys { try Self.checkState(sequence, of: store, states) }
            hasFailed = disk.callCount >= first
            first += TestSize.of(1, unoptimized: 3)
            let log = try store.open(Self.options)
            #expect(try log.findings().isEmpty, "call \(first)")
            #expect(try log.snapshot().row(10) == row(1_210, byteCount: 600), "call \(first)")
            // The window begins anew.
            for number in 21...23 { try Self.churn(log, number) }
            let newest = log.snapshot().sequence
            #expect(throws: Never.self, "call \(first)") {
                try PastState(of: Store.path, on: store.disk, at: .transaction(newest - 15))
            }
            try log.close()
        }
        #expect(first > 40)
    }

    @Test func `a folder that was removed is lost, and nothing else`() throws {
        let store = Store()
        let log = try store.open(Self.options)
        for number in 1...2 { try Self.churn(log, number) }
        try store.remove(Store.path + "/" + FileName.retained)
        for number in 3...5 { try Self.churn(log, number) }
        try Self.checkState(5, of: store, [:])
        try log.close()
        let again = try store.open(Self.options)
        for number in 6...8 { try Self.churn(again, number) }
        #expect(try again.findings().isEmpty)
        let newest = again.snapshot().sequence
        #expect(throws: Never.self) { try PastState(of: Store.path, on: store.disk, at: .transaction(newest - 15)) }
        try again.close()
    }

    @Test func `files with foreign names are no danger`() throws {
        let store = Store()
        let log = try store.open(Self.options)
        for number in 1...2 { try Self.churn(log, number) }
        try log.close()
        let folder = Store.path + "/" + FileName.retained + "/"
        for name in [
            "m-ffffffffffffffff.flm", "m-fffffffffffffffe.flm", "s-fffffffffffffffe.fls",
            "s-ffffffffffffffff.fls", "s-0000000000000000.fls", "notes", "WINDOW.tmp",
        ] {
            try store.disk.replace(folder + name, with: [UInt8](repeating: 0xFF, count: 300))
        }
        let again = try store.open(Self.options)
        for number in 3...5 { try Self.churn(again, number) }
        let newest = again.snapshot().sequence
        #expect(throws: Never.self) { try PastState(of: Store.path, on: store.disk, at: .transaction(newest - 15)) }
        #expect(try again.findings().isEmpty)
        try again.close()
        let third = try store.open(Self.options)
        #expect(try third.snapshot().row(10) == row(510, byteCount: 600))
        try third.close()
    }

    @Test func `a full disk is opened by the space of past states`() throws {
        let store = Store()
        let log = try store.open(Self.options)
        for number in 1...40 { try Self.churn(log, number) }
        try log.insert([row(7)])
        log.abandonForTests()
        let full = store.killed
        full.disk.byteCapacity = full.disk.fileSizes.values.reduce(0, +)
        let again = try full.open(Self.options)
        #expect(try again.findings().isEmpty)
        #expect(try again.snapshot().row(10) == row(4_010, byteCount: 600))
        again.abandonForTests()
    }

    @Test func `states behind a lost end are not read`() throws {
        let store = Store()
        var options = Self.options
        options.durability = .async
        options.acceptsLostTail = true
        let log = try store.open(options)
        for number in 1...3 { try Self.churn(log, number) }
        for number in 4...6 { try log.insert([row(number)]) }
        let newest = log.snapshot().sequence
        log.abandonForTests()
        let cut = Store(store.disk.withOnlyWhatIsDurable())
        let again = try cut.open(options)
        let reached = again.snapshot().sequence
        #expect(reached < newest)
        // The same numbers again.
        var states: [UInt64: [UInt8]] = [:]
        for number in 11...14 {
            states[again.snapshot().sequence + 1] = row(number * 100 + 1, byteCount: 600)
            try Self.churn(again, number)
        }
        for sequence in states.keys { try Self.checkState(sequence, of: cut, states) }
        try again.close()
    }

    /// A clock that was ahead once does not make the window endless.
    @Test func `a clock that was set back lets files go`() throws {
        let store = Store()
        let now = Guarded<Int64>(1_000)
        var options = Self.options
        options.retention = RetentionWindow(nanoseconds: 100, byteCount: .max)
        let log = try Log.open(
            Store.path, on: store.disk, clock: Clock { now.withLock { $0 } }, options: options,
            deriver: WholeRowDeriver())
        now.withLock { $0 = 1_000_000 }
        try Self.churn(log, 1)
        now.withLock { $0 = 1_000 }
        var most: UInt64 = 0
        for number in 2...30 {
            now.withLock { $0 += 50 }
            try Self.churn(log, number)
            most = max(most, log.figures.space.retainedByteCount)
        }
        #expect(most > 10_000 && most < 250_000, "\(most)")
        try log.close()
    }
}
