import FaultlineDisk

/// A rule that is broken on purpose, between the store's code and the disk: the cycles must detect each.
package enum FullDiskCanary: String, CaseIterable, Sendable {
    /// No space is reserved ahead, so a full disk fails a write.
    case setsNothingAside
    /// A full disk is reported as a failing one.
    case misnamesFullDisks
    /// Removed files still take space.
    case removesNothing
}

/// Passes calls to another disk, but breaks such a rule.
// Safe because its property is immutable.
final class BrokenFullDisk: ForwardingDisk, @unchecked Sendable {
    fileprivate let canary: FullDiskCanary

    init(over base: Disk, _ canary: FullDiskCanary) {
        self.canary = canary
        super.init(over: base)
    }

    override func open(_ path: String, for access: FileAccess) throws(DiskError) -> DiskFile {
        BrokenFullDiskFile(over: try base.open(path, for: access), of: self)
    }

    override func remove(_ path: String) throws(DiskError) {
        guard canary == .removesNothing else { return try base.remove(path) }
        // Beside the store, where nothing reads it.
        let parts = path.split(separator: "/")
        let folder = "/" + parts.dropLast(2).joined(separator: "/")
        try base.rename(path, to: "\(folder)/kept-\(parts.last ?? "")")
    }
}

/// A file of a `BrokenFullDisk`.
// Safe because its property is immutable.
private final class BrokenFullDiskFile: ForwardingDiskFile, @unchecked Sendable {
    private let disk: BrokenFullDisk

    init(over base: DiskFile, of disk: BrokenFullDisk) {
        self.disk = disk
        super.init(over: base)
    }

    override func reserve(from offset: UInt64, through end: UInt64) throws(DiskError) {
        if disk.canary == .setsNothingAside { return }
        do throws(DiskError) {
            try base.reserve(from: offset, through: end)
        } catch {
            guard disk.canary == .misnamesFullDisks else { throw error }
            throw DiskError(
                code: .ioFailure, systemCall: error.systemCall, errorNumber: error.errorNumber, path: error.path)
        }
    }
}
