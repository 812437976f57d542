import FaultlineDisk

/// The identity and the features of a store: `docs/FileFormat.md` section 2.
package struct Identity: Equatable, Sendable {
    package static let copyByteCount = 4_096
    static let magic: UInt64 = 0x0A1A_0A0D_544C_4689

    package let storeHigh: UInt64
    package let storeLow: UInt64
    package let createdNanoseconds: Int64
    package let salt: UInt64
    /// Differs in every writable copy of the store.
    package let instance: StoreID
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
        guard bytes.u64(0) == Self.magic else { throw .wrongMagic }
        guard CRC32C.checksum(bytes, 4_092) == bytes.u32(4_092) else { throw .wrongChecksum }
        guard bytes.u16(8) == FormatVersion.major else { throw .newerFormat }
        guard bytes.u32(12) == Self.copyByteCount else { throw .outOfRange }
        storeHigh = bytes.u64(16)
        storeLow = bytes.u64(24)
        createdNanoseconds = Int64(bitPattern: bytes.u64(32))
        salt = bytes.u64(40)
        instance = StoreID(high: bytes.u64(48), low: bytes.u64(56))
        incompatible = bytes.u64(64)
        readCompatible = bytes.u64(72)
        compatible = bytes.u64(80)
        let unknown = incompatible & ~FormatVersion.knownIncompatible
        guard unknown == 0 else { throw .unknownFeatures(unknown) }
        guard bytes.isZero(88, to: 4_092) else { throw .newerFormat }
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
        bytes.set(Self.magic, 0)
        bytes.set(FormatVersion.major, 8)
        bytes.set(FormatVersion.minor, 10)
        bytes.set(UInt32(Self.copyByteCount), 12)
        bytes.set(storeHigh, 16)
        bytes.set(storeLow, 24)
        bytes.set(UInt64(bitPattern: createdNanoseconds), 32)
        bytes.set(salt, 40)
        bytes.set(instance.high, 48)
        bytes.set(instance.low, 56)
        bytes.set(incompatible, 64)
        bytes.set(readCompatible, 72)
        bytes.set(compatible, 80)
        bytes.set(CRC32C.checksum(bytes, 4_092), 4_092)
    }
}
