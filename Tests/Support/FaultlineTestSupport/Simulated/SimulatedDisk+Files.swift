import FaultlineDisk
import Glibc

// The operations of handles on their disk.

extension SimulatedDisk {
    func read(_ file: Int, into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) -> Int {
        guard offset <= UInt64(Self.fileByteCountMax) else { return 0 }
        return guardian.withLock { state.files[file].current.read(into: buffer, at: Int(offset)) }
    }

    func write(_ file: Int, _ path: String, _ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(DiskError) {
        begin(DiskOperation(.write, path, offset: offset, byteCount: bytes.count))
        guard offset <= UInt64(Self.fileByteCountMax), bytes.count <= Self.fileByteCountMax - Int(offset) else {
            throw DiskError(errorNumber: EFBIG, systemCall: .pwrite, path: path, offset: offset)
        }
        try guardian.withLock { () throws(DiskError) in
            let growth = Int(offset) + bytes.count - state.files[file].allocatedByteCount
            if growth > 0, capacity < 1 << 50 {
                let missing = growth - max(0, capacity - state.byteCount)
                if missing > 0 {
                    let fitting = max(0, bytes.count - missing)
                    state.files[file].write(UnsafeRawBufferPointer(rebasing: bytes[..<fitting]), at: Int(offset))
                    throw DiskError(
                        errorNumber: ENOSPC, systemCall: .pwrite, path: path, offset: offset + UInt64(fitting))
                }
            }
            state.files[file].write(bytes, at: Int(offset))
        }
    }

    func reserve(_ file: Int, _ path: String, from offset: UInt64, through end: UInt64) throws(DiskError) {
        try guardian.withLock { () throws(DiskError) in
            guard end <= UInt64(Self.fileByteCountMax) else {
                throw DiskError(errorNumber: EFBIG, systemCall: .fallocate, path: path, offset: offset)
            }
            let growth = Int(end) - state.files[file].allocatedByteCount
            let available = capacity < 1 << 50 ? max(0, capacity - state.byteCount) : growth
            // Like ext4 and XFS: the file keeps the free space that there is.
            let got = min(growth, available)
            if got > 0 { state.files[file].reservedEnd = state.files[file].allocatedByteCount + got }
            if got < growth {
                throw DiskError(errorNumber: ENOSPC, systemCall: .fallocate, path: path, offset: offset)
            }
        }
    }

    func releaseReserve(_ file: Int) {
        guardian.withLock { state.files[file].reservedEnd = 0 }
    }

    func cut(_ file: Int, _ path: String, to byteCount: UInt64) {
        begin(DiskOperation(.cut, path, offset: byteCount))
        guardian.withLock { state.files[file].cut(to: Int(clamping: byteCount)) }
    }

    func synchronize(_ file: Int, _ path: String, site: SyncSite) {
        begin(DiskOperation(.synchronize, path, site: site))
        guardian.withLock {
            if admits(path, site: site, isDirectory: false) { state.files[file].synchronize() }
        }
    }

    /// Fails the synchronization of this file, and loses its dirty pages.
    func lose(_ file: Int, _ path: String, site: SyncSite, _ loss: PageLoss, seed: UInt64?) {
        begin(DiskOperation(.synchronize, path, site: site))
        guardian.withLock {
            var random = Seed(seed ?? 0)
            state.files[file].lose(loss) { _ in seed != nil && random.oneIn(2) }
        }
    }

    func byteCount(_ file: Int) -> UInt64 {
        guardian.withLock { UInt64(state.files[file].current.byteCount) }
    }

    func lock(_ file: Int, handle: Int, byte: UInt64, exclusively: Bool) -> Bool {
        guardian.withLock {
            let others = state.files[file].locks.filter { $0.byte == byte && $0.handle != handle }
            if others.contains(where: { exclusively || $0.isExclusive }) { return false }
            state.files[file].locks.removeAll { $0.byte == byte && $0.handle == handle }
            state.files[file].locks.append(SimulatedFile.Lock(byte: byte, handle: handle, isExclusive: exclusively))
            return true
        }
    }

    func isLocked(_ file: Int, handle: Int, byte: UInt64, exclusively: Bool) -> Bool {
        guardian.withLock {
            state.files[file].locks.contains {
                $0.byte == byte && $0.handle != handle && (exclusively || $0.isExclusive)
            }
        }
    }

    func unlock(_ file: Int, handle: Int, byte: UInt64) {
        guardian.withLock { state.files[file].locks.removeAll { $0.byte == byte && $0.handle == handle } }
    }

    func close(_ file: Int, handle: Int) {
        guardian.withLock {
            state.files[file].locks.removeAll { $0.handle == handle }
            state.files[file].handleCount -= 1
        }
    }
}
