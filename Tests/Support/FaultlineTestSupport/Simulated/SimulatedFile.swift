/// The state of one file of a simulated disk: its cached bytes, its durable bytes, and the changes between them.
struct SimulatedFile: Sendable {
    /// The unit that a device writes whole or, at worst, torn.
    static let sectorByteCount = 512

    /// A write since the last synchronization.
    struct Write: Sendable {
        let offset: Int
        let bytes: [UInt8]
        /// The file's length after it.
        let byteCountAfter: Int

        var sectors: Range<Int> {
            offset / SimulatedFile.sectorByteCount..<(offset + bytes.count + SimulatedFile.sectorByteCount - 1)
                / SimulatedFile.sectorByteCount
        }
    }

    struct Lock: Sendable {
        let byte: UInt64
        let handle: Int
        let isExclusive: Bool
    }

    /// The bytes for reads.
    var current = PagedBytes()
    /// The bytes that are certain to survive a power loss.
    var durable = PagedBytes()
    /// The writes since the last synchronization, in order.
    var writes: [Write] = []
    /// Sectors that a failed synchronization marked clean without writing them, with their cached bytes then.
    ///
    /// The next synchronization skips them, unless they are written again.
    var lost: [Int: [UInt8]] = [:]
    /// The end of the reserved space; a crash may keep it or not, and it does not affect the bytes.
    var reservedEnd = 0
    var locks: [Lock] = []
    var handleCount = 0
    var isFree = false

    /// Bytes of the disk that the file takes.
    var allocatedByteCount: Int { max(current.byteCount, reservedEnd) }

    /// Whether power loss could leave anything but the cached bytes.
    var isDirty: Bool { !writes.isEmpty || !lost.isEmpty || current.byteCount != durable.byteCount }

    mutating func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
        guard bytes.count > 0 else { return }
        current.write(bytes, at: offset)
        writes.append(Write(offset: offset, bytes: [UInt8](bytes), byteCountAfter: current.byteCount))
    }

    /// Truncates the file, and frees the space behind; the bytes behind would be zeros if the file grew again.
    mutating func cut(to byteCount: Int) {
        reservedEnd = 0
        guard byteCount < current.byteCount else { return }
        let zeros = [UInt8](repeating: 0, count: current.byteCount - byteCount)
        writes.append(Write(offset: byteCount, bytes: zeros, byteCountAfter: byteCount))
        current.cut(to: byteCount)
    }

    /// Makes bytes and length durable, except for sectors that the system believes it has written.
    mutating func synchronize() {
        if lost.isEmpty {
            durable = current
        } else {
            durable.extend(to: current.byteCount)
            durable.cut(to: current.byteCount)
            for sector in dirtySectors { writeThrough(sector) }
        }
        writes = []
    }

    /// Fails to write the dirty sectors back and marks them clean; `reached` returns whether a sector reached the
    /// medium.
    mutating func lose(_ loss: PageLoss, reached: (_ sector: Int) -> Bool) {
        let cached = current
        for sector in dirtySectors where reached(sector) {
            let place = sector * Self.sectorByteCount
            durable.extend(to: Swift.min(place + Self.sectorByteCount, cached.byteCount))
            writeThrough(sector)
        }
        let remaining = dirtySectors.filter { !reached($0) }
        writes = []
        switch loss {
        case .keepsNewBytes:
            for sector in remaining {
                lost[sector] = cached.bytes(at: sector * Self.sectorByteCount, count: Self.sectorByteCount)
            }
        case .revertsToOldBytes:
            current = durable
            lost = [:]
        case .dropsPages:
            current = durable
            current.extend(to: cached.byteCount)
            lost = [:]
        }
    }

    private mutating func writeThrough(_ sector: Int) {
        let place = sector * Self.sectorByteCount
        let bytes = current.bytes(at: place, count: Self.sectorByteCount)
        durable.overwrite(bytes, count: bytes.count, at: place)
        lost[sector] = nil
    }

    /// The sectors written since the last synchronization, ascending.
    var dirtySectors: [Int] {
        var sectors: Set<Int> = []
        for write in writes { sectors.formUnion(write.sectors) }
        return sectors.sorted()
    }
}

/// The system's treatment of dirty pages that it failed to write.
///
/// In each case they count as clean afterwards (Rebello et al., "Can Applications Recover from fsync Failures?", ATC
/// 2020).
package enum PageLoss: Sendable, CaseIterable {
    /// ext4, XFS: reads see the new bytes until the page is evicted or the machine stops.
    case keepsNewBytes
    /// Btrfs: reads see the old bytes and the old length.
    case revertsToOldBytes
    /// An evicted page: reads see the old bytes, or zeros in space that was new; the length stays.
    case dropsPages
}
