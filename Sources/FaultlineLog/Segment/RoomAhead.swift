import FaultlineDisk

/// Disk space reserved ahead of a file's end, so that a full disk is detected before a write, and not during it.
///
/// Reserved in steps of an eighth of the file, from 64 KiB to 4 MiB. Unused space is freed when the file gets no more
/// bytes.
struct RoomAhead {
    private static let stepByteCountMin: UInt64 = 64 << 10
    static let stepByteCountMax: UInt64 = 4 << 20
    private static let blockByteCount: UInt64 = 4_096

    /// The end of the reserved space.
    private(set) var end: UInt64

    /// The space of a file that is written up to `end`.
    init(from end: UInt64) {
        self.end = end
    }

    /// Reserves space for the bytes before `wanted`.
    ///
    /// - Throws: `.fullDisk`; the file's bytes are unchanged, and it may have got some of the space.
    @inline(__always)
    mutating func make(through wanted: UInt64, in file: DiskFile) throws(LogError) {
        if wanted > end { try extend(through: wanted, in: file) }
    }

    private mutating func extend(through wanted: UInt64, in file: DiskFile) throws(LogError) {
        let least = (wanted + Self.blockByteCount - 1) & ~(Self.blockByteCount - 1)
        let step = min(max(least / 8, Self.stepByteCountMin), Self.stepByteCountMax)
        do throws(DiskError) {
            try file.reserve(from: end, through: least + step)
            end = least + step
            return
        } catch {
            guard error.isAboutSpace else { throw LogError(error, doing: "setting disk space aside") }
        }
        do throws(DiskError) {
            try file.reserve(from: end, through: least)
            end = least
        } catch {
            guard error.isAboutSpace else { throw LogError(error, doing: "setting disk space aside") }
            throw LogError(noRoom: error)
        }
    }
}

extension LogError {
    /// The error for a full disk, before anything was written: the request may be repeated.
    init(noRoom cause: DiskError?, path: String? = nil) {
        self.init(
            .fullDisk,
            "The disk is full, so nothing was written. "
                + "Make room on the file system, or delete objects, and try again.",
            path: cause?.path ?? path, offset: cause?.offset, cause: cause)
    }
}
