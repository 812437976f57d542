import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Testing

/// Stores whose directory is removed or replaced while they are open.
struct RemovedDirectoryTests {
    private let folder = TemporaryDirectory()
    private let disk = PosixDisk()
    private var path: String { folder.path + "/store" }

    private func open(_ options: LogOptions = Store.options) throws -> Log {
        try Log.open(path, on: disk, clock: Clock { 5 }, options: options, deriver: WholeRowDeriver())
    }

    private func code(_ body: () throws -> Void) -> LogError.Code? {
        do { try body() } catch { return (error as? LogError)?.code }
        return nil
    }

    /// The change of the directory.
    enum Loss: CaseIterable {
        case removed, emptied, moved, replacedByACopy

        func happen(to path: String, on disk: Disk) throws {
            switch self {
            case .removed: TemporaryDirectory.remove(path)
            case .emptied: for name in try disk.names(in: path) { try disk.remove(path + "/" + name) }
            case .moved: try disk.rename(path, to: path + ".old")
            case .replacedByACopy:
                try disk.rename(path, to: path + ".old")
                try disk.createDirectory(path)
                for name in try disk.names(in: path + ".old") {
                    try disk.copy(path + ".old/" + name, to: path + "/" + name)
                }
            }
        }
    }

    @Test("A21: no save is acknowledged after the directory went away, and health says so", arguments: Loss.allCases)
    func saves(_ loss: Loss) throws {
        let log = try open()
        try log.insert([row(1)])
        try loss.happen(to: path, on: disk)
        #expect(code { try log.insert([row(2)]) } == .removed)
        #expect(log.health.failure?.code == .removed)
        #expect(log.health.failure?.path == path)
        #expect(log.health.failure?.message.contains("removed, moved or replaced") == true)
        // Later saves get the same error, and reads still work.
        #expect(code { try log.insert([row(3)]) } == .removed)
        #expect(try log.snapshot().row(1) == row(1) && log.snapshot().sequence == 1)
        try log.close()
    }

    @Test("A21: with .async the next synchronization says that the directory went away", arguments: Loss.allCases)
    func asynchronousSaves(_ loss: Loss) throws {
        var options = Store.options
        options.durability = .async
        let log = try open(options)
        try log.insert([row(1)])
        try log.waitUntilDurable()
        try loss.happen(to: path, on: disk)
        try log.insert([row(2)])
        #expect(code { try log.waitUntilDurable() } == .removed)
        #expect(log.health.failure?.code == .removed)
        #expect(code { try log.insert([row(3)]) } == .removed)
        try log.close()
    }

    @Test("A21: a checkpoint and a new segment say that the directory went away", arguments: Loss.allCases)
    func maintenance(_ loss: Loss) throws {
        var options = Store.options
        options.durability = .async
        options.segmentByteCount = 300
        let log = try open(options)
        try log.insert([row(1)])
        try log.checkpoint()
        try loss.happen(to: path, on: disk)
        #expect(code { for number in 2..<20 { try log.insert([row(number)]) } } == .removed)
        #expect(log.health.failure?.code == .removed)
        log.abandonForTests()
        TemporaryDirectory.remove(path)

        let other = try open(Store.options)
        try other.insert([row(1)])
        TemporaryDirectory.remove(path + ".old")
        try loss.happen(to: path, on: disk)
        #expect(code { try other.checkpoint() } == .removed)
        #expect(other.health.failure?.code == .removed)
        try other.close()
    }

    @Test(
        "A21: closing says so where nothing was saved since the directory went away", arguments: [Loss.removed, .moved])
    func closing(_ loss: Loss) throws {
        let log = try open()
        try log.insert([row(1)])
        try loss.happen(to: path, on: disk)
        #expect(code { try log.close() } == .removed)
    }

    @Test("A21: a store can be made in the place of one that was removed while it was open")
    func newStore() throws {
        let log = try open()
        try log.insert([row(1)])
        TemporaryDirectory.remove(path)
        let new = try open()
        #expect(new.snapshot().sequence == 0)
        try new.insert([row(2)])
        #expect(code { try log.insert([row(3)]) } != nil)
        try new.close()
    }
}
