internal import FaultlineLog

/// State that few objects need in addition to their core.
final class ObjectExtra {
    /// Targets of to-one relationships of a detached object.
    @exclusivity(unchecked) var targets = SlotTargets()
    /// Members of to-many relationships of a detached object, by slot.
    @exclusivity(unchecked) var members: [Int: MemberArray] = [:]
    /// Whether some of them may have been changed in place and not compared since.
    @exclusivity(unchecked) var hasUncompared = false
    /// Large values that the object was given by reference, by slot: they belong to another object until a save copies
    /// or moves them.
    @exclusivity(unchecked) var adoptedBlobs: [Int: UInt64] = [:]
    /// The contexts that these values can be read in.
    @exclusivity(unchecked) var blobSources: [Int: ContextCore] = [:]
    /// Values that were set for ephemeral attributes, by slot.
    @exclusivity(unchecked) var ephemerals: [Int: Any] = [:]
    /// A change that could not be made while the object was in no context: reported when it is inserted.
    @exclusivity(unchecked) var refusal: (any Error)?
    /// Large values of an object whose deletion was saved, by blob.
    var lastBlobs: [UInt64: HeldBlob] = [:]
    /// The observers of the object's properties.
    @exclusivity(unchecked) var observation: ObjectObservation?
    /// The object that represents an alias's row.
    var canonical: ObjectHandle?
    /// Address of a detached object that other objects have had as their target or member since they were connected; 0
    /// for none.
    var connected: UInt = 0

    /// Detached objects that refer to this detached one by a relationship without an inverse, once for each reference.
    @exclusivity(unchecked) var referrers: [Referrer] = []

    /// Removes one reference of an object.
    func removeReferrer(_ handle: ObjectHandle) {
        guard let position = referrers.firstIndex(where: { $0.core == handle.core }) else { return }
        referrers.remove(at: position)
    }

    /// Removes the references of other detached objects to this one, which is freed: its initializer failed.
    func leavePartners() {
        guard connected != 0 else { return }
        targets.forEach { _, target in target.core.pointee.extraIfPresent?.forget(connected) }
        for member in members.values.lazy.map(\.settled).joined() {
            guard let model = member as? any PersistentModel else { continue }
            model._$coreAddress().pointee.extraIfPresent?.forget(connected)
        }
    }

    private func forget(_ address: UInt) {
        func isIt(_ object: AnyObject) -> Bool {
            UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()) == address
        }
        targets.removeAll(where: isIt)
        for array in members.values { array.remove(isIt) }
        referrers.removeAll { UInt(bitPattern: $0.object.toOpaque()) == address }
    }
}

/// An object that refers to another one, and is not retained by it: it leaves the list when it is freed.
struct Referrer {
    let object: Unmanaged<AnyObject>
    let core: UnsafeMutablePointer<ModelCore>

    init(_ handle: ObjectHandle) {
        object = Unmanaged.passUnretained(handle.object)
        core = handle.core
    }

    var handle: ObjectHandle { ObjectHandle(object: object.takeUnretainedValue(), core: core) }
}

/// Targets by slot; the first one, which is often the only one, costs no allocation.
struct SlotTargets {
    private var first: (slot: Int, target: ObjectHandle)?
    private var others: [(slot: Int, target: ObjectHandle)] = []

    var isEmpty: Bool { first == nil }

    subscript(slot: Int) -> ObjectHandle? {
        get {
            if let first, first.slot == slot { return first.target }
            return others.first { $0.slot == slot }?.target
        }
        set {
            remove(slot)
            guard let newValue else { return }
            if first == nil { first = (slot, newValue) } else { others.append((slot, newValue)) }
        }
    }

    private mutating func remove(_ slot: Int) {
        if first?.slot == slot {
            first = others.isEmpty ? nil : others.removeFirst()
        } else {
            others.removeAll { $0.slot == slot }
        }
    }

    mutating func removeAll(where isWanted: (AnyObject) -> Bool) {
        others.removeAll { isWanted($0.target.object) }
        if let first, isWanted(first.target.object) { remove(first.slot) }
    }

    /// Calls `body` with each target, in the order of the slots.
    func forEach(_ body: (Int, ObjectHandle) -> Void) {
        guard let first else { return }
        if others.isEmpty { return body(first.slot, first.target) }
        for (slot, target) in ([first] + others).sorted(by: { $0.slot < $1.slot }) { body(slot, target) }
    }
}
