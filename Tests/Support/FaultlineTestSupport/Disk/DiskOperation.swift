package import FaultlineDisk

/// One call on a disk or a file, for traces and for matching faults.
package struct DiskOperation: Hashable, Sendable, CustomStringConvertible {
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case open, create, names, isPresent, createDirectory, remove, removeDirectory, rename, synchronizeDirectory
        case identity, freeByteCount, fileSystem
        case read, write, synchronize, byteCount, lock, unlock, forgetCachedPages, reserve, releaseReserve, cut

        /// Whether it changes the possible disks after a crash.
        package var isMutating: Bool {
            switch self {
            case .create, .createDirectory, .remove, .removeDirectory, .rename, .synchronizeDirectory, .write,
                .synchronize, .cut:
                true
            default: false
            }
        }

        /// The system call that an error of this kind names.
        package var systemCall: SystemCall {
            switch self {
            case .open, .create: .open
            case .names: .readdir
            case .isPresent, .identity: .stat
            case .createDirectory: .mkdir
            case .remove: .unlink
            case .removeDirectory: .rmdir
            case .rename: .rename
            case .synchronizeDirectory: .fsync
            case .freeByteCount, .fileSystem: .statfs
            case .read: .pread
            case .write: .pwrite
            case .synchronize: .fdatasync
            case .byteCount: .fstat
            case .lock, .unlock: .fcntl
            case .forgetCachedPages: .posixFadvise
            case .reserve: .fallocate
            case .releaseReserve, .cut: .ftruncate
            }
        }
    }

    package let kind: Kind
    package let path: String
    /// The target of a rename.
    package let target: String?
    /// For reads and writes, the offset in bytes from the start of the file; for truncations the new end, for locks the
    /// byte.
    package let offset: UInt64?
    /// For reads and writes, the requested number of bytes.
    package let byteCount: Int?
    /// The site of a synchronization.
    package let site: SyncSite?

    package init(
        _ kind: Kind, _ path: String, target: String? = nil, offset: UInt64? = nil, byteCount: Int? = nil,
        site: SyncSite? = nil
    ) {
        self.kind = kind
        self.path = path
        self.target = target
        self.offset = offset
        self.byteCount = byteCount
        self.site = site
    }

    /// One line, such as `write /store/log-1 at 64, 300 bytes`.
    package var description: String {
        var text = "\(kind.rawValue) \(path)"
        if let target { text += " to \(target)" }
        if let offset { text += " at \(offset)" }
        if let byteCount { text += ", \(byteCount) bytes" }
        if let site { text += " (\(site))" }
        return text
    }
}
