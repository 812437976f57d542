import CFaultline
import Glibc

/// A file of the operating system.
// Safe because any thread may use the descriptor, and everything else is immutable.
final class PosixDiskFile: DiskFile, @unchecked Sendable {
    /// The descriptor; after `close` its number is -1, for which the system returns EBADF.
    private let descriptor = PosixDescriptor()

    /// Takes over an open descriptor.
    convenience init(path: String, number: Int32, in table: OpenFiles) {
        self.init(path: path)
        descriptor.take(number, of: path, in: table)
    }

    deinit {
        close()
    }

    override func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(DiskError) -> Int {
        guard let start = buffer.baseAddress, buffer.count > 0 else { return 0 }
        // A signed offset bounds the length of every file.
        guard offset <= UInt64(Int64.max) - UInt64(buffer.count) else { return 0 }
        let (byteCount, errorNumber) = try descriptor.withNumber { number in
            Transfer.reading(buffer.count) { done in
                fl_pread(number, start + done, buffer.count - done, Int64(offset) + Int64(done))
            }
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
        let (byteCount, errorNumber) = try descriptor.withNumber { number in
            Transfer.writing(bytes.count) { done in
                fl_pwrite(number, start + done, bytes.count - done, Int64(offset) + Int64(done))
            }
        }
        if errorNumber != 0 { throw failure(errorNumber, of: .pwrite, at: offset + UInt64(byteCount)) }
    }

    override func reserve(from offset: UInt64, through end: UInt64) throws(DiskError) {
        guard end > offset else { return }
        guard end <= UInt64(Int64.max) else {
            throw DiskError(errorNumber: EFBIG, systemCall: .fallocate, path: path, offset: offset)
        }
        let result = try descriptor.withNumber { number in
            Transfer.uninterrupted { fl_allocate(number, Int64(offset), Int64(end - offset), true) }
        }
        switch -result {
        case ENOSPC, EDQUOT, EFBIG, EIO, EBADF, EROFS: throw failure(-result, of: .fallocate, at: offset)
        // The space is reserved, or the file system does not support reservations.
        default: return
        }
    }

    override func releaseReserve() throws(DiskError) {
        let result = try descriptor.withNumber { number in
            Transfer.uninterrupted { fl_release_allocation(number) }
        }
        if result < 0 { throw failure(-result, of: .ftruncate) }
    }

    override func cut(to byteCount: UInt64) throws(DiskError) {
        guard byteCount <= UInt64(Int64.max) else {
            throw DiskError(errorNumber: EFBIG, systemCall: .ftruncate, path: path, offset: byteCount)
        }
        let result = try descriptor.withNumber { number in Transfer.uninterrupted { fl_cut(number, Int64(byteCount)) } }
        if result < 0 { throw failure(-result, of: .ftruncate) }
    }

    override func synchronize(site: SyncSite) throws(DiskError) {
        let result = try descriptor.withNumber { number in Transfer.uninterrupted { fl_fdatasync(number) } }
        if result < 0 { throw failure(-result, of: .fdatasync) }
    }

    override func byteCount() throws(DiskError) -> UInt64 {
        var status = fl_file_status()
        let result = try descriptor.withNumber { fl_status($0, &status) }
        if result < 0 { throw failure(-result, of: .fstat) }
        return status.byte_count
    }

    override func lock(byte: UInt64, exclusively: Bool) throws(DiskError) -> Bool {
        let place = try lockPlace(byte)
        let result = try descriptor.withNumber { number in
            Transfer.uninterrupted { fl_lock(number, place, exclusively) }
        }
        if result == -EAGAIN { return false }
        if result < 0 { throw failure(-result, of: .fcntl) }
        descriptor.table.noteLock(descriptor)
        return true
    }

    override func isLocked(byte: UInt64, exclusively: Bool) throws(DiskError) -> Bool {
        let place = try lockPlace(byte)
        let result = try descriptor.withNumber { fl_is_locked($0, place, exclusively) }
        if result < 0 { throw failure(-result, of: .fcntl) }
        return result > 0
    }

    override func unlock(byte: UInt64) throws(DiskError) {
        let place = try lockPlace(byte)
        let result = try descriptor.withNumber { fl_unlock($0, place) }
        if result < 0 { throw failure(-result, of: .fcntl) }
    }

    override func forgetCachedPages() throws(DiskError) {
        let result = try descriptor.withNumber { fl_forget_cached_pages($0) }
        if result < 0 { throw failure(-result, of: .posixFadvise) }
    }

    override func mayRest(with group: RestingFiles) { descriptor.allowRest(with: group) }

    override func close() { descriptor.close() }

    private func lockPlace(_ byte: UInt64) throws(DiskError) -> Int64 {
        guard let place = Int64(exactly: byte), place < Int64.max else {
            throw DiskError(errorNumber: EOVERFLOW, systemCall: .fcntl, path: path, offset: byte)
        }
        return place
    }

    /// EBADF means "closed" for a closed file, and "opened for reading" otherwise.
    private func failure(_ errorNumber: Int32, of systemCall: SystemCall, at offset: UInt64? = nil) -> DiskError {
        if errorNumber == EBADF, descriptor.number < 0 {
            return DiskError(
                code: .notOpen, systemCall: systemCall, errorNumber: errorNumber, path: path, offset: offset)
        }
        return DiskError(errorNumber: errorNumber, systemCall: systemCall, path: path, offset: offset)
    }
}
