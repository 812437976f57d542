import FaultlineDisk
import Glibc

/// Checkpoints and runs that were found damaged while the store was open.
///
/// The manifest lists them at once: otherwise the next opening would have to read all of them to find out. It rebuilds
/// their content. A store that is open for reading changes no manifest.
///
/// Concurrency: guarded by its lock; lock order: this, manifest.
// Safe because mutable state is guarded by the lock.
final class DerivedDamage: @unchecked Sendable {
    private let lock = EngineLock()
    private var numbers: Set<UInt64> = []
    private weak var manifest: Manifest?
    private var ownerProcess: pid_t = 0

    /// Sets the manifest to write to; to be called once, when the store is open.
    func tell(_ manifest: Manifest) {
        lock.lock()
        defer { lock.unlock() }
        self.manifest = manifest
        ownerProcess = getpid()
    }

    /// To be called before the store's lock is released: snapshots stay readable, but the manifest may belong to
    /// another process.
    func tellNobody() {
        lock.withLock { manifest = nil }
    }

    func contains(_ number: UInt64) -> Bool { lock.withLock { numbers.contains(number) } }

    /// Records a file of which a part does not verify.
    func note(_ number: UInt64) {
        lock.lock()
        defer { lock.unlock() }
        // A file that is not listed yet is marked as damaged when it is listed.
        guard numbers.insert(number).inserted, let manifest, manifest.state.files[number] != nil,
            getpid() == ownerProcess
        else { return }
        // A manifest that cannot be written reports that to every other caller.
        do { try manifest.commit([.fileDamaged(number: number)]) } catch { return }
    }
}

extension LogError {
    /// Damage found in a checkpoint or a run, whose content the records have too.
    static func damagedDerived(_ what: String, _ path: String, _ offset: UInt64? = nil) -> LogError {
        LogError(.damaged, "\(what) \(derivedRemedy)", path: path, offset: offset)
    }

    /// The remedy for a checkpoint or a run that does not verify.
    package static let derivedRemedy =
        "Open the store again: that rebuilds the file's contents from the segments."

    /// The name of the damaged checkpoint or run, if this caused the error.
    var damagedDerivedName: String? {
        guard code == .damaged, let name = path?.split(separator: "/").last.map(String.init),
            let (kind, _) = FileName.parse(name), kind == .tableCheckpoint || kind == .indexRun
        else { return nil }
        return name
    }
}

extension IndexState {
    /// Records the damaged run that an error names, and returns the error.
    package func noting(_ error: LogError) -> LogError {
        if error.code == .damaged, let run = runs.first(where: { $0.file.path == error.path }) {
            run.managed?.noteDamaged()
            return run.managed?.noting(error) ?? error
        }
        return error
    }
}
