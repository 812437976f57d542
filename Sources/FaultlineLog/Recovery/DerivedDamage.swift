import FaultlineDisk
import Glibc

/// Checkpoints and runs that turned out not to verify while the store was open.
///
/// The manifest is told at once: nothing but reading all of them could tell the next opening, which makes again what
/// they held. A store that is open for reading tells nobody.
///
/// Concurrency: guarded by its lock; lock order: this, manifest.
// Safe because mutable state is guarded by the lock.
final class DerivedDamage: @unchecked Sendable {
    private let lock = EngineLock()
    private var numbers: Set<UInt64> = []
    private weak var manifest: Manifest?
    private var ownerProcess: pid_t = 0

    /// Sets the manifest that is to be told; to be called once, when the store is open.
    func tell(_ manifest: Manifest) {
        lock.lock()
        defer { lock.unlock() }
        self.manifest = manifest
        ownerProcess = getpid()
    }

    /// To be called before the store's lock is given up: snapshots stay readable, but the manifest is somebody else's.
    func tellNobody() {
        lock.withLock { manifest = nil }
    }

    func contains(_ number: UInt64) -> Bool { lock.withLock { numbers.contains(number) } }

    /// Notes a file of which something does not verify.
    func note(_ number: UInt64) {
        lock.lock()
        defer { lock.unlock() }
        // Whoever lists a file that is not listed yet says that it is damaged.
        guard numbers.insert(number).inserted, let manifest, manifest.state.files[number] != nil,
            getpid() == ownerProcess
        else { return }
        // A manifest that cannot be written says so to everybody else.
        do { try manifest.commit([.fileDamaged(number: number)]) } catch { return }
    }
}

extension LogError {
    /// Damage found in a checkpoint or a run, all of which the records say too.
    static func damagedDerived(_ what: String, _ path: String, _ offset: UInt64? = nil) -> LogError {
        LogError(.damaged, "\(what) \(derivedRemedy)", path: path, offset: offset)
    }

    /// What to do about a checkpoint or a run that does not verify.
    package static let derivedRemedy =
        "Open the store again: what the file held is then made again from the segments."

    /// The name of the checkpoint or run that does not verify, if this is why the error was thrown.
    var damagedDerivedName: String? {
        guard code == .damaged, let name = path?.split(separator: "/").last.map(String.init),
            let (kind, _) = FileName.parse(name), kind == .tableCheckpoint || kind == .indexRun
        else { return nil }
        return name
    }
}

extension IndexState {
    /// Notes the run of which an error says that it does not verify, and hands the error on.
    func noting(_ error: LogError) -> LogError {
        if error.code == .damaged, let run = runs.first(where: { $0.file.path == error.path }) {
            run.managed?.noteDamaged()
            return run.managed?.noting(error) ?? error
        }
        return error
    }
}
