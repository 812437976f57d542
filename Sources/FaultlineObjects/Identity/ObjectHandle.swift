internal import FaultlineStore

/// A retained object, with the address of its core.
struct ObjectHandle {
    var object: AnyObject
    let core: UnsafeMutablePointer<ModelCore>

    /// The value of a to-one slot that refers to the object: its number, with a bit for a temporary one.
    @inline(__always) var reference: ObjectReference { core.pointee.reference }

    /// The current reference in a to-one slot of the object.
    func reference(in slot: Int) -> ObjectReference {
        ObjectReference(bits: core.pointee.read({ $0.toOne(slot) }, { $0.toOne(slot) }) ?? 0)
    }
}

extension [ObjectHandle] {
    /// Calls `body` for each object that is not deleted and whose entity the store has, with its index.
    ///
    /// The array keeps the objects alive, so none is retained in the loop: that would be most of the cost of a short
    /// loop.
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

    /// How many objects of each entity there are.
    var countsByEntity: [String: Int] { counts { _, _ in true } }

    /// How many objects of each entity meet a condition, by their indices and cores.
    @inline(__always)
    func counts(where isCounted: (_ place: Int, _ core: UnsafeMutablePointer<ModelCore>) -> Bool) -> [String: Int] {
        var counts: [String: Int] = [:]
        var current: Unmanaged<ObjectHome>?
        var count = 0
        func settle() {
            guard count > 0, let current else { return }
            counts[current.takeUnretainedValue().entityName, default: 0] += count
            count = 0
        }
        withUnsafeBufferPointer { handles in
            for place in handles.indices where isCounted(place, handles[place].core) {
                let home = handles[place].core.pointee.home
                // Neighbours mostly belong to one entity.
                if home.toOpaque() != current?.toOpaque() {
                    settle()
                    current = home
                }
                count += 1
            }
            settle()
        }
        return counts
    }
}
