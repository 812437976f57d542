import FaultlineDisk
import Synchronization

/// An open file with several users: it is closed by the last one.
// Safe because the count is guarded, and a file may be read from any thread.
final class SharedFile: @unchecked Sendable {
    let file: DiskFile
    private let useCount = Guarded(1)

    /// Takes over a file, with one user.
    init(_ file: DiskFile) { self.file = file }

    /// Adds a user.
    func join() { useCount.withLock { $0 += 1 } }

    /// Ends the use by one user.
    func leave() {
        let isLast = useCount.withLock { count in
            count -= 1
            return count == 0
        }
        if isLast { file.close() }
    }
}

/// The beginning of a file that others may read too.
// Safe because mutable state is guarded.
final class PastFile: ForwardingDiskFile, @unchecked Sendable {
    private let shared: SharedFile
    private let shownByteCount: UInt64
    private let isOpen = Guarded(true)

    /// - Parameters:
    ///   - shared: The file, with this use counted.
    ///   - byteCount: The bytes that are shown.
    init(_ shared: SharedFile, byteCount: UInt64) {
        self.shared = shared
        shownByteCount = byteCount
        super.init(over: shared.file)
    }

    deinit { close() }

    override func byteCount() throws(DiskError) -> UInt64 { shownByteCount }

    override func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(DiskError) -> Int {
        guard offset < shownByteCount else { return 0 }
        let count = Int(min(UInt64(buffer.count), shownByteCount - offset))
        return try super.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]), at: offset)
    }

    override func close() {
        let wasOpen = isOpen.withLock { isOpen in
            defer { isOpen = false }
            return isOpen
        }
        if wasOpen { shared.leave() }
    }
}
