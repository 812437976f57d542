import FaultlineDisk

/// The identity of a manifest, and of the manifest that it replaces: `docs/FileFormat.md` section 8, edit 13.
///
/// Ordinals have no gaps and name the file, so if two writers publish the next manifest, the second is refused.
package struct ManifestOrigin: Equatable, Sendable {
    static let byteCount = 48

    /// 1 for the first manifest of a store, and one more for each next one.
    package let ordinal: UInt64
    /// Number of the manifest that it replaces; 0 if there is none.
    package let predecessor: UInt64
    /// headCRC of the predecessor's last frame.
    package let predecessorHead: UInt32
    /// Rises whenever another process begins to write.
    package let epoch: UInt64
    /// Random: a writer whose call got no answer recognizes its own manifest by it.
    package let nonce: TransactionID

    package init(ordinal: UInt64, predecessor: UInt64, predecessorHead: UInt32, epoch: UInt64, nonce: TransactionID) {
        self.ordinal = ordinal
        self.predecessor = predecessor
        self.predecessorHead = predecessorHead
        self.epoch = epoch
        self.nonce = nonce
    }

    init(reading bytes: UnsafeRawPointer) throws(FormatFault) {
        guard bytes.u32(20) == 0 else { throw .newerFormat }
        ordinal = bytes.u64(0)
        predecessor = bytes.u64(8)
        predecessorHead = bytes.u32(16)
        epoch = bytes.u64(24)
        nonce = TransactionID(high: bytes.u64(32), low: bytes.u64(40))
        guard ordinal > 0, ordinal <= Limits.countMax, epoch <= Limits.countMax else { throw .outOfRange }
    }

    func write(to writer: inout ByteWriter) {
        writer.append(ordinal)
        writer.append(predecessor)
        writer.append(predecessorHead)
        writer.append(UInt32(0))
        writer.append(epoch)
        writer.append(nonce.high)
        writer.append(nonce.low)
    }
}
