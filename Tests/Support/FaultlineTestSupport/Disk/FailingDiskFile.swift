import FaultlineDisk

/// A handle of a `FailingDisk`.
// Safe because its property is immutable and may be used from any thread.
final class FailingDiskFile: ForwardingDiskFile, @unchecked Sendable {
    private let disk: FailingDisk

    init(over base: DiskFile, of disk: FailingDisk) {
        self.disk = disk
        super.init(over: base)
    }

    override func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(DiskError) -> Int {
        try disk.run(DiskOperation(.read, path, offset: offset, byteCount: buffer.count)) { () throws(DiskError) in
            try base.read(into: buffer, at: offset)
        }
    }

    override func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(DiskError) {
        guard let (effect, error) = disk.hit(DiskOperation(.write, path, offset: offset, byteCount: bytes.count)) else {
            return try base.write(bytes, at: offset)
        }
        let written =
            switch effect {
            case .writesFirst(let byteCount): min(byteCount, bytes.count)
            case .writesShare(let share): bytes.count * Int(share) / 256
            case .takesPlace: bytes.count
            case .none, .losesPages: 0
            }
        if written > 0 { try base.write(UnsafeRawBufferPointer(rebasing: bytes[..<written]), at: offset) }
        throw error
    }

    override func reserve(from offset: UInt64, through end: UInt64) throws(DiskError) {
        let byteCount = Int(clamping: end &- offset)
        try disk.run(DiskOperation(.reserve, path, offset: offset, byteCount: byteCount)) { () throws(DiskError) in
            try base.reserve(from: offset, through: end)
        }
    }

    override func releaseReserve() throws(DiskError) {
        try disk.run(DiskOperation(.releaseReserve, path)) { () throws(DiskError) in try base.releaseReserve() }
    }

    override func cut(to byteCount: UInt64) throws(DiskError) {
        try disk.run(DiskOperation(.cut, path, offset: byteCount)) { () throws(DiskError) in
            try base.cut(to: byteCount)
        }
    }

    override func synchronize(site: SyncSite) throws(DiskError) {
        guard let (effect, error) = disk.hit(DiskOperation(.synchronize, path, site: site)) else {
            return try base.synchronize(site: site)
        }
        switch effect {
        case .takesPlace: try base.synchronize(site: site)
        case .losesPages(let loss, let seed):
            guard let simulated = base as? SimulatedDiskFile else {
                preconditionFailure("Only a simulated disk can lose dirty pages.")
            }
            try simulated.losePages(loss, site: site, seed: seed)
        case .none, .writesFirst, .writesShare: break
        }
        throw error
    }

    override func byteCount() throws(DiskError) -> UInt64 {
        try disk.run(DiskOperation(.byteCount, path)) { () throws(DiskError) in try base.byteCount() }
    }

    override func lock(byte: UInt64, exclusively: Bool) throws(DiskError) -> Bool {
        try disk.run(DiskOperation(.lock, path, offset: byte)) { () throws(DiskError) in
            try base.lock(byte: byte, exclusively: exclusively)
        }
    }

    override func isLocked(byte: UInt64, exclusively: Bool) throws(DiskError) -> Bool {
        try disk.run(DiskOperation(.lock, path, offset: byte)) { () throws(DiskError) in
            try base.isLocked(byte: byte, exclusively: exclusively)
        }
    }

    override func unlock(byte: UInt64) throws(DiskError) {
        try disk.run(DiskOperation(.unlock, path, offset: byte)) { () throws(DiskError) in try base.unlock(byte: byte) }
    }

    override func forgetCachedPages() throws(DiskError) {
        try disk.run(DiskOperation(.forgetCachedPages, path)) { () throws(DiskError) in try base.forgetCachedPages() }
    }
}
