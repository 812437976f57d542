internal import FaultlineStore

/// The value of a draft's to-one slot: the number of a stored object, or the temporary number of an unsaved one.
struct ObjectReference: Hashable {
    @inline(__always) static var temporaryBit: UInt64 { ReferenceTargets.temporaryBit }

    let bits: UInt64

    init(bits: UInt64) { self.bits = bits }

    init(number: UInt64, isTemporary: Bool) {
        bits = isTemporary ? number | Self.temporaryBit : number
    }

    var isNil: Bool { bits == 0 }
    var isTemporary: Bool { bits & Self.temporaryBit != 0 }
    var number: UInt64 { bits & (Self.temporaryBit - 1) }
}
