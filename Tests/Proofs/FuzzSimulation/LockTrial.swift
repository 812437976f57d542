import CrashSimulation
import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport

/// Uses bytes as the text in LOCK: its printable part is shown in messages, and nothing else may happen.
enum LockTrial {
    private static let path = FuzzStore.path + "/LOCK"
    /// The largest length of a process's description.
    private static let shownByteCountMax = 128

    /// The text of the store's writer.
    static func seed(of store: FuzzStore) -> [UInt8] { store.disk.bytes(of: path) ?? [] }

    /// Meets the text of a writer, once for writing and once for reading, then uses the store.
    ///
    /// - Throws: `FuzzViolation` if the text has any other effect.
    static func run(_ bytes: [UInt8], in store: FuzzStore) throws {
        let disk = try store.disk(replacing: [("LOCK", bytes)])
        try meetWriter(on: disk)
        let reading = FuzzReading(repairsChecksums: false, ignoresDerivedFiles: false)
        if let problem = try reading.problem(on: disk) {
            throw FuzzViolation(description: "the text in LOCK matters: \(problem)")
        }
    }

    private static func meetWriter(on disk: SimulatedDisk) throws {
        let file = try disk.open(path, for: .updating)
        defer { file.close() }
        guard try file.lock(byte: 0, exclusively: true) else {
            throw FuzzViolation(description: "the store is already open")
        }
        defer { try? file.unlock(byte: 0) }
        var options = FuzzStore.options()
        do throws(LogError) {
            _ = try Log.open(
                FuzzStore.path, on: disk, clock: Clock { 2_000 }, options: options, deriver: CrashDeriver())
            throw LogError(.damaged, "A second writer was let in.")
        } catch {
            guard error.code == .lockedByAnother else { throw FuzzViolation(description: "\(error.code): \(error)") }
            try check(error.message, surroundings: 128)
        }
        options.access = .reading
        let log = try Log.open(
            FuzzStore.path, on: disk, clock: Clock { 2_000 }, options: options, deriver: CrashDeriver())
        defer { log.abandonForTests() }
        guard let writer = try log.otherWriter() else {
            throw FuzzViolation(description: "a reader does not see that the store has a writer")
        }
        try check(writer, surroundings: 0)
    }

    private static func check(_ text: String, surroundings: Int) throws {
        guard text.utf8.count <= shownByteCountMax + surroundings, text.utf8.allSatisfy({ $0 >= 32 && $0 < 127 }) else {
            throw FuzzViolation(description: "people are shown \(text.debugDescription)")
        }
    }
}
