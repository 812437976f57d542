import FaultlineDisk

/// The identity and the features of a store: `docs/FileFormat.md` section 2.
package struct Identity: Equatable, Sendable {
    package static let copyByteCount = 4_096
    static let magic: UInt64 = 0x0A1A_0A0D_544C_4689

    /// The table of section 2.
    enum Fields {
        static let magic = Field.U64(0)
        static let major = Field.U16(8)
        static let minor = Field.U16(10)
        static let copyByteCount = Field.U32(12)
        static let storeHigh = Field.U64(16)
        static let storeLow = Field.U64(24)
        static let created = Field.I64(32)
        static let salt = Field.U64(40)
        static let instanceHigh = Field.U64(48)
        static let instanceLow = Field.U64(56)
        static let incompatible = Field.U64(64)
        static let readCompatible = Field.U64(72)
        static let compatible = Field.U64(80)
        static let reserved = Field.Bytes(88, 4_004)
        static let checksum = Field.U32(4_092)
    }

    package let storeHigh: UInt64
    package let storeLow: UInt64
    package let createdNanoseconds: Int64
    package let salt: UInt64
    /// Differs in every writable copy of the store.
    package private(set) var instance: StoreID
    package private(set) var incompatible: UInt64
    package private(set) var readCompatible: UInt64
    package let compatible: UInt64

    init(storeHigh: UInt64, storeLow: UInt64, createdNanoseconds: Int64, salt: UInt64, instance: StoreID) {
        self.storeHigh = storeHigh
        self.storeLow = storeLow
        self.createdNanoseconds = createdNanoseconds
        self.salt = salt
        self.instance = instance
        incompatible = 0
        readCompatible = 0
        compatible = 0
    }

    /// Reads one copy of 4,096 bytes.
    init(reading bytes: UnsafeRawPointer) throws(FormatFault) {
        guard bytes[Fields.magic] == Self.magic else { throw .wrongMagic }
        guard CRC32C.checksum(bytes, Fields.checksum.offset) == bytes[Fields.checksum] else { throw .wrongChecksum }
        guard bytes[Fields.major] == FormatVersion.major else { throw .newerFormat }
        guard bytes[Fields.copyByteCount] == Self.copyByteCount else { throw .outOfRange }
        storeHigh = bytes[Fields.storeHigh]
        storeLow = bytes[Fields.storeLow]
        createdNanoseconds = bytes[Fields.created]
        salt = bytes[Fields.salt]
        instance = StoreID(high: bytes[Fields.instanceHigh], low: bytes[Fields.instanceLow])
        incompatible = bytes[Fields.incompatible]
        readCompatible = bytes[Fields.readCompatible]
        compatible = bytes[Fields.compatible]
        let unknown = incompatible & ~FormatVersion.knownIncompatible
        guard unknown == 0 else { throw .unknownFeatures(unknown) }
        guard bytes.isZero(Fields.reserved) else { throw .newerFormat }
    }

    package var storeID: StoreID { StoreID(high: storeHigh, low: storeLow) }

    /// The identity of a copy of the store.
    func with(instance: StoreID) -> Identity {
        var identity = self
        identity.instance = instance
        return identity
    }

    /// The identity with a feature that every version must know.
    func adding(incompatible bits: UInt64) -> Identity {
        var identity = self
        identity.incompatible |= bits
        return identity
    }

    /// The identity with a feature that every writing version must know.
    func adding(readCompatible bits: UInt64) -> Identity {
        var identity = self
        identity.readCompatible |= bits
        return identity
    }

    /// Writes one copy of 4,096 bytes.
    func write(to bytes: UnsafeMutableRawPointer) {
        bytes.zero(0, to: Self.copyByteCount)
        bytes[Fields.magic] = Self.magic
        bytes[Fields.major] = FormatVersion.major
        bytes[Fields.minor] = FormatVersion.minor
        bytes[Fields.copyByteCount] = UInt32(Self.copyByteCount)
        bytes[Fields.storeHigh] = storeHigh
        bytes[Fields.storeLow] = storeLow
        bytes[Fields.created] = createdNanoseconds
        bytes[Fields.salt] = salt
        bytes[Fields.instanceHigh] = instance.high
        bytes[Fields.instanceLow] = instance.low
        bytes[Fields.incompatible] = incompatible
        bytes[Fields.readCompatible] = readCompatible
        bytes[Fields.compatible] = compatible
        bytes[Fields.checksum] = CRC32C.checksum(bytes, Fields.checksum.offset)
    }
}
