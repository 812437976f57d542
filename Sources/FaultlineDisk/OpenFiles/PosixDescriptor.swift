internal import CFaultline
import Glibc
import Synchronization

/// A descriptor of an open file, which its table may close while no call uses it, and which the next call opens again.
///
/// Its number and the count of the calls that use it lie in one word. A call counts itself in the same step in which it
/// reads the number, and the number is taken away only in a step that finds no calls. So no call meets the number of
/// another file, and none takes a lock while the file is open.
// Safe because the word and the mark of use are atomic, and the rest is set before it is shared or guarded by the lock of
// all tables.
final class PosixDescriptor: @unchecked Sendable {
    /// The number in the upper half, -1 if there is none, and the count of calls in the lower half.
    private let word = Atomic<UInt64>(word(-1))
    private let used = Atomic<Bool>(true)
    // Set before the descriptor is shared.
    private(set) var path = ""
    private(set) var table = OpenFiles.shared

    // MARK: Guarded by the lock of all tables

    var isClosed = false
    /// Whether it is counted as a lock.
    var isLock = false
    /// The files that it rests with; nil if it stays open.
    var group: RestingFiles?
    /// The file, once it may rest.
    var file: OpenedFile?
    /// Its index among the open files of its table that may rest.
    var index: Int?

    /// Takes over the number of an open file.
    func take(_ number: Int32, of path: String, in table: OpenFiles) {
        self.path = path
        self.table = table
        setNumber(number)
        table.noteOpened()
    }

    private static func word(_ number: Int32) -> UInt64 { UInt64(UInt32(bitPattern: number)) << 32 }

    @inline(__always)
    private static func number(_ word: UInt64) -> Int32 { Int32(truncatingIfNeeded: word >> 32) }

    /// The number; -1 while the file rests, and after `close`.
    var number: Int32 { Self.number(word.load(ordering: .relaxed)) }

    /// Calls `body` with the number, which stays that of the file during the call; -1 after `close`.
    ///
    /// - Throws: If the file rested, the errors of opening it: `.gone` if its path leads to another file or to none,
    ///   `.tooManyOpenFiles`, `.ioFailure` and others.
    @inline(__always)
    func withNumber<R>(_ body: (Int32) -> R) throws(DiskError) -> R {
        let counted = word.wrappingAdd(1, ordering: .acquiring).newValue
        defer { word.wrappingSubtract(1, ordering: .releasing) }
        var number = Self.number(counted)
        if number < 0 { number = try table.openAgain(self) }
        if !used.load(ordering: .relaxed) { used.store(true, ordering: .relaxed) }
        return body(number)
    }

    /// Allows the table to close the file while no call uses it.
    func allowRest(with group: RestingFiles) {
        // A file that rests must not be opened by this.
        guard OpenFiles.withLock({ file == nil && !isClosed }) else { return }
        do throws(DiskError) {
            guard let file = try withNumber({ OpenedFile($0) }) else { return }
            table.letRest(self, file, with: group)
        } catch {
            return
        }
    }

    func close() { table.close(self) }

    // MARK: For the table, under the lock

    /// Whether it was used since the last question.
    func takeUse() -> Bool { used.exchange(false, ordering: .relaxed) }

    /// Takes the number away, unless a call uses it.
    func takeNumberIfIdle() -> Int32? {
        let number = number
        guard number >= 0 else { return nil }
        let taken = word.compareExchange(
            expected: Self.word(number), desired: Self.word(-1), ordering: .acquiringAndReleasing)
        return taken.exchanged ? number : nil
    }

    /// Takes the number away; nil if there is none.
    func takeNumber() -> Int32? {
        let number = number
        guard number >= 0 else { return nil }
        word.wrappingSubtract(Self.word(number &+ 1), ordering: .acquiringAndReleasing)
        return number
    }

    /// Sets the number, where there is none.
    func setNumber(_ number: Int32) {
        // From -1 to the number; the carry is dropped.
        word.wrappingAdd(Self.word(number &+ 1), ordering: .releasing)
    }
}

/// A file as its path must lead to again: the file's identity, and the time of its creation, because a new file may get
/// the identity of a removed one.
///
/// Where the file system does not keep that time, the checksums still prove that bytes are of another file.
struct OpenedFile: Equatable {
    private let identity: FileIdentity
    /// 0 if it is not known.
    private let birthNanoseconds: UInt64

    /// The file of an open descriptor; nil if the system does not tell.
    init?(_ number: Int32) {
        var status = fl_file_status()
        guard number >= 0, fl_status(number, &status) == 0 else { return nil }
        identity = FileIdentity(device: status.device, inode: status.inode)
        birthNanoseconds = fl_birth_nanoseconds(number)
    }
}
