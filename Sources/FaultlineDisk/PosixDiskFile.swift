import CFaultline
import Glibc
import Synchronization

/// A file of the operating system.
// Safe because the descriptor is atomic and everything else is immutable.
final class PosixDiskFile: DiskFile, @unchecked Sendable {
    /// The descriptor, or -1 after `close`.
    ///
    /// The system then returns EBADF, unless a call runs concurrently with `close`, which the contract forbids.
    private let descriptor = Atomic<Int32>(-1)

    /// Takes over an open descriptor.
    convenience init(path: String, descriptor: Int32) {
        self.init(path: path)
        self.descriptor.store(descriptor, ordering: .relaxed)
    }

    deinit {
        close()
    }

    override func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(DiskError) -> Int {
        guard let start = buffer.baseAddress, buffer.count > 0 else { return 0 }
        // A signed offset bounds the length of every file.
        guard offset <= UInt64(Int64.max) - UInt64(buffer.count) else { return 0 }
        let descriptor = descriptor.load(ordering: .relaxed)
        let (byteCount, errorNumber) = Transfer.reading(buffer.count) { done in
            fl_pread(descriptor, start + done, buffer.count - done, Int64(offset) + Int64(done))
        }
        if errorNumber != 0 {
            throw DiskError(
                errorNumber: errorNumber, systemCall: .pread, path: path, offset: offset + UInt64(byteCount))
        }
        return byteCount
    }

    override func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(DiskError) {
        guard let start = bytes.baseAddress, bytes.count > 0 else { return }
        guard offset <= UInt64(Int64.max) - UInt64(bytes.count) else {
            throw DiskError(errorNumber: EFBIG, systemCall: .pwrite, path: path, offset: offset)
        }
        let descriptor = descriptor.load(ordering: .relaxed)
        let (byteCount, errorNumber) = Transfer.writing(bytes.count) { done in
            fl_pwrite(descriptor, start + done, bytes.count - done, Int64(offset) + Int64(done))
        }
        if errorNumber != 0 { throw failure(errorNumber, of: .pwrite, at: offset + UInt64(byteCount)) }
    }

    override func reserve(from offset: UInt64, through end: UInt64) throws(DiskError) {
        guard end > offset else { return }
        guard end <= UInt64(Int64.max) else {
            throw DiskError(errorNumber: EFBIG, systemCall: .fallocate, path: path, offset: offset)
        }
        let descriptor = descriptor.load(ordering: .relaxed)
        let result = Transfer.uninterrupted {
            fl_allocate(descriptor, Int64(offset), Int64(end - offset), true)
        }
        switch -result {
        case ENOSPC, EDQUOT, EFBIG, EIO, EBADF, EROFS: throw failure(-result, of: .fallocate, at: offset)
        // The space is reserved, or the file system does not support reservations.
        default: return
        }
    }

    override func releaseReserve() throws(DiskError) {
        let descriptor = descriptor.load(ordering: .relaxed)
        let result = Transfer.uninterrupted { fl_release_allocation(descriptor) }
        if result < 0 { throw failure(-result, of: .ftruncate) }
    }

    override func cut(to byteCount: UInt64) throws(DiskError) {
        guard byteCount <= UInt64(Int64.max) else {
            throw DiskError(errorNumber: EFBIG, systemCall: .ftruncate, path: path, offset: byteCount)
        }
        let result = Transfer.uninterrupted { fl_cut(descriptor.load(ordering: .relaxed), Int64(byteCount)) }
        if result < 0 { throw failure(-result, of: .ftruncate) }
    }

    override func synchronize(site: SyncSite) throws(DiskError) {
        let descriptor = descriptor.load(ordering: .relaxed)
        let result = Transfer.uninterrupted { fl_fdatasync(descriptor) }
        if result < 0 { throw failure(-result, of: .fdatasync) }
    }

    override func byteCount() throws(DiskError) -> UInt64 {
        var status = fl_file_status()
        let result = fl_status(descriptor.load(ordering: .relaxed), &status)
        if result < 0 { throw failure(-result, of: .fstat) }
        return status.byte_count
    }

    override func lock(byte: UInt64, exclusively: Bool) throws(DiskError) -> Bool {
        let descriptor = descriptor.load(ordering: .relaxed)
        let place = try lockPlace(byte)
        let result = Transfer.uninterrupted { fl_lock(descriptor, place, exclusively) }
        if result == -EAGAIN { return false }
        if result < 0 { throw failure(-result, of: .fcntl) }
        return true
    }

    override func isLocked(byte: UInt64, exclusively: Bool) throws(DiskError) -> Bool {
        let result = fl_is_locked(descriptor.load(ordering: .relaxed), try lockPlace(byte), exclusively)
        if result < 0 { throw failure(-result, of: .fcntl) }
        return result > 0
    }

    override func unlock(byte: UInt64) throws(DiskError) {
        let result = fl_unlock(descriptor.load(ordering: .relaxed), try lockPlace(byte))
        if result < 0 { throw failure(-result, of: .fcntl) }
    }

    override func forgetCachedPages() throws(DiskError) {
        let result = fl_forget_cached_pages(descriptor.load(ordering: .relaxed))
        if result < 0 { throw failure(-result, of: .posixFadvise) }
    }

    override func close() {
        let descriptor = descriptor.exchange(-1, ordering: .relaxed)
        // Linux releases the descriptor even where `close` fails. Its error concerns only bytes that were not
        // synchronized, which were never promised.
        if descriptor >= 0 { _ = fl_close(descriptor) }
    }

    private func lockPlace(_ byte: UInt64) throws(DiskError) -> Int64 {
        guard let place = Int64(exactly: byte), place < Int64.max else {
            throw DiskError(errorNumber: EOVERFLOW, systemCall: .fcntl, path: path, offset: byte)
        }
        return place
    }

    /// EBADF means "closed" for a closed file, and "opened for reading" otherwise.
    private func failure(_ errorNumber: Int32, of systemCall: SystemCall, at offset: UInt64? = nil) -> DiskError {
        if errorNumber == EBADF, descriptor.load(ordering: .relaxed) < 0 {
            return DiskError(
                code: .notOpen, systemCall: systemCall, errorNumber: errorNumber, path: path, offset: offset)
        }
        return DiskError(errorNumber: errorNumber, systemCall: systemCall, path: path, offset: offset)
    }
}
