import FaultlineDisk

/// The identity of a manifest, and of the manifest that it replaces: `docs/FileFormat.md` section 8, edit 13.
///
/// Ordinals have no gaps and name the file, so if two writers publish the next manifest, the second is refused.
package struct ManifestOrigin: Equatable, Sendable {
    static let byteCount = 48

    /// The table of section 8, edit 13.
    enum Fields {
        static let ordinal = Field.U64(0)
        static let predecessor = Field.U64(8)
        static let predecessorHead = Field.U32(16)
        static let reserved = Field.U32(20)
        static let epoch = Field.U64(24)
        static let nonceHigh = Field.U64(32)
        static let nonceLow = Field.U64(40)
    }

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
        guard bytes[Fields.reserved] == 0 else { throw .newerFormat }
        ordinal = bytes[Fields.ordinal]
        predecessor = bytes[Fields.predecessor]
        predecessorHead = bytes[Fields.predecessorHead]
        epoch = bytes[Fields.epoch]
        nonce = TransactionID(high: bytes[Fields.nonceHigh], low: bytes[Fields.nonceLow])
        guard ordinal > 0, ordinal <= Limits.countMax, epoch <= Limits.countMax else { throw .outOfRange }
    }

    func write(to writer: inout ByteWriter) {
        writer.append(structureOf: Self.byteCount) { bytes in
            bytes[Fields.ordinal] = ordinal
            bytes[Fields.predecessor] = predecessor
            bytes[Fields.predecessorHead] = predecessorHead
            bytes[Fields.epoch] = epoch
            bytes[Fields.nonceHigh] = nonce.high
            bytes[Fields.nonceLow] = nonce.low
        }
    }
}
