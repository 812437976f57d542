internal import FaultlineStore

/// An object that a context holds on to, with the address of its core.
struct ObjectHandle {
    var object: AnyObject
    let core: UnsafeMutablePointer<ModelCore>

    /// What a to-one slot stores for the object: its number, with a bit for a temporary one.
    var reference: ObjectReference {
        ObjectReference(number: core.pointee.number, isTemporary: core.pointee.has(.temporary))
    }
}

/// What a draft's to-one slot holds: the number of a stored object, or the temporary number of an unsaved one.
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
