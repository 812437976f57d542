internal import FaultlineStore

/// An object that a context holds on to, with the address of its core.
struct ObjectHandle {
    var object: AnyObject
    let core: UnsafeMutablePointer<ModelCore>

    /// What a to-one slot stores for the object: its number, with a bit for a temporary one.
    @inline(__always) var reference: ObjectReference { core.pointee.reference }
}

extension ModelCore {
    /// What a to-one slot stores for the object.
    @inline(__always) var reference: ObjectReference {
        ObjectReference(number: number, isTemporary: has(.temporary))
    }
}

extension [ObjectHandle] {
    /// Calls `body` for each object that is not deleted and whose entity the store has, with its place.
    ///
    /// The array keeps the objects alive, so none is retained on the way: that would be most of what a short loop costs.
    @inline(__always)
    func forEachKept(
        _ body: (_ place: Int, _ core: UnsafeMutablePointer<ModelCore>, _ entity: EntityStorage) throws -> Void
    ) rethrows {
        try withUnsafeBufferPointer { handles in
            for place in handles.indices {
                let core = handles[place].core
                guard !core.pointee.has(.deleted) else { continue }
                try core.pointee.home._withUnsafeGuaranteedRef { home in
                    guard let entity = home.entity else { return }
                    try body(place, core, entity)
                }
            }
        }
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
