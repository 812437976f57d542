package import FaultlineDisk
import Synchronization

/// An open numbered file of the store.
///
/// Users of the file hold the object: snapshots through their `FileTable`, pages through their handles. A file that the
/// manifest does not list is removed some time after the last holder is gone.
// Safe because the stored properties are immutable or atomic.
package final class ManagedFile: @unchecked Sendable {
    package let header: FileHeader
    package let file: DiskFile
    private let removals: FileRemovals
    private let damage: DerivedDamage
    private let watch: StoreWatch
    private let isListed: Atomic<Bool>
    private let recordBinding: UInt32

    package var number: UInt64 { header.fileNumber }
    package var kind: FileKind { header.kind }
    package var path: String { file.path }

    init(
        header: FileHeader, file: DiskFile, isListed: Bool, removals: FileRemovals, damage: DerivedDamage,
        watch: StoreWatch
    ) {
        self.isListed = Atomic(isListed)
        self.header = header
        recordBinding = header.recordBinding
        self.file = file
        self.removals = removals
        self.damage = damage
        self.watch = watch
        removals.begin(header.fileNumber)
    }

    deinit {
        file.close()
        removals.end(header.fileNumber, removing: isListed.load(ordering: .acquiring) ? nil : file.path)
    }

    /// The value that the checksum of a record at `offset` is combined with, so that the record verifies there only.
    @inline(__always)
    package func recordBinding(at offset: UInt64) -> UInt32 { recordBinding ^ UInt32(truncatingIfNeeded: offset >> 3) }

    /// To be called when a manifest that lists the file may be durable.
    func noteListed() {
        isListed.store(true, ordering: .releasing)
    }

    /// To be called when a manifest that does not list the file is durable.
    func noteDropped() {
        isListed.store(false, ordering: .releasing)
    }

    /// To be called when a part of a checkpoint or run does not verify.
    func noteDamaged() { damage.note(number) }

    /// Records an error about damaged bytes of the file, and returns it.
    @inline(never)
    func noting(_ error: LogError) -> LogError {
        watch.noteRot(error)
        return error
    }

    /// A table as messages name it.
    func text(of table: TableID) -> String { watch.text(of: table) }

    /// Whether a part of a checkpoint or run was found not to verify.
    var isDamaged: Bool { damage.contains(number) }

    /// Frees the space reserved behind the file's end, which gets no more bytes.
    ///
    /// A failure is no error: the space is freed with the file.
    func releaseReserve() {
        do throws(DiskError) { try file.releaseReserve() } catch { return }
    }

    /// Truncates the file at `end`, behind which there are only zeros and reserved space; it gets no more bytes.
    ///
    /// A failure is no error: the space is not needed.
    func cut(to end: UInt64) {
        do throws(DiskError) { try file.cut(to: end) } catch { return }
    }

    /// Reads exactly `buffer.count` bytes.
    @inline(__always)
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64, _ doing: @autoclosure () -> String)
        throws(LogError)
    {
        let count = try onDisk(doing()) { () throws(DiskError) in try file.read(into: buffer, at: offset) }
        guard count == buffer.count else {
            throw noting(
                .damaged("The file ends after \(offset + UInt64(count)) bytes, while \(doing()).", path, offset))
        }
    }
}

/// Counts the open files, and lists unneeded ones, to be removed at the next opportunity.
// Safe because mutable state is guarded by the lock.
final class FileRemovals: @unchecked Sendable {
    private let lock = EngineLock()
    private var paths: [String] = []
    private var open: [UInt64: Int] = [:]

    func begin(_ number: UInt64) {
        lock.withLock { open[number, default: 0] += 1 }
    }

    func end(_ number: UInt64, removing path: String?) {
        lock.lock()
        defer { lock.unlock() }
        let count = (open[number] ?? 1) - 1
        open[number] = count == 0 ? nil : count
        if let path { paths.append(path) }
    }

    func isOpen(_ number: UInt64) -> Bool { lock.withLock { open[number] != nil } }

    func takeAll() -> [String] {
        lock.lock()
        defer { lock.unlock() }
        let taken = paths
        paths = []
        return taken
    }
}
