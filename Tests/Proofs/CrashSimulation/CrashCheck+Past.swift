import FaultlineBackup
package import FaultlineDisk
package import FaultlineLog
import FaultlineTestSupport

extension CrashCheck {
    /// Whether states of the past are read: only if the window is certainly there.
    package var readsPast: Bool { past != nil && options.retention != nil && acknowledged > 0 }

    /// Whether the folder of past states has a listing that does not verify.
    ///
    /// A cut while one is written may leave zeros in it; the states before it are then refused, because it might have been
    /// in force.
    func hasUnreadableListing(_ disk: Disk) throws -> Bool {
        guard let identity = try IdentityFile.read(path + "/" + FileName.identity, on: disk) else { return false }
        let store = StoreDirectory(
            disk: disk, path: path, storeID: identity.storeID, nextNumber: 1, random: RandomSource(seed: 1))
        var isUnreadable = false
        _ = try RetainedListing.all(in: store.retainedFolder()) { _, _ in isUnreadable = true }
        return isUnreadable
    }

    /// Reads a state from the first one to a transaction, and compares it; it is in the window unless `mayLack` is set.
    func comparePast(on disk: Disk, through sequence: UInt64, mayLack: Bool, _ when: String) throws {
        guard var random = past, readsPast else { return }
        let chosen = UInt64(random.below(Int(sequence) + 1))
        do {
            if let difference = try Self.difference(ofPast: chosen, path, on: disk, options, state(at: chosen)) {
                throw CrashViolation("\(when), the state of transaction \(chosen): \(difference)")
            }
        } catch let error as BackupError {
            guard mayLack, error.code == .notInLog else {
                throw CrashViolation("\(when), the state of transaction \(chosen): \(error)")
            }
        }
    }

    /// The first difference between a state of the past and its expected content.
    ///
    /// - Throws: `BackupError` if the store does not have the state.
    package static func difference(
        ofPast sequence: UInt64, _ path: String, on disk: Disk, _ options: LogOptions, _ state: CrashModel
    ) throws -> String? {
        let past = try PastState(of: path, on: disk, at: .transaction(sequence))
        defer { past.release() }
        guard past.last.transaction == sequence else { return "transaction \(past.last.transaction) was read" }
        var reading = options
        reading.access = .reading
        reading.retention = nil
        let log = try Log.open(
            past.directory, on: past.disk, clock: Clock { 5_000 }, options: reading, deriver: CrashDeriver())
        defer { log.abandonForTests() }
        return try difference(log.snapshot(), state)
    }
}
