/// Objects in a given order, found by their reference: one can be removed without a walk through the others.
struct MemberList {
    /// Nil for removed objects.
    private var entries: [ObjectHandle?]
    /// The last position of each reference; made when one is first looked up.
    private var places: [ObjectReference: Int]?
    private var leftCount = 0

    init(_ handles: [ObjectHandle] = []) { entries = handles }

    var handles: [ObjectHandle] { entries.compactMap { $0 } }

    /// Calls `body` with each object, in their order.
    func forEach(_ body: (ObjectHandle) -> Void) {
        for case let handle? in entries { body(handle) }
    }

    var isEmpty: Bool { entries.count == leftCount }

    /// Whether all objects that are not deleted are unsaved, and are in the order of their numbers.
    var isNewByNumber: Bool {
        // The list keeps the objects alive: none is retained during the walk.
        entries.withUnsafeBufferPointer { entries in
            var last: UInt64 = 0
            for place in entries.indices {
                guard let core = entries[place].map(\.core), !core.pointee.isDeleted else { continue }
                guard core.pointee.has(.temporary), core.pointee.number > last else { return false }
                last = core.pointee.number
            }
            return true
        }
    }

    mutating func append(_ handle: ObjectHandle) {
        places?[handle.reference] = entries.count
        entries.append(handle)
    }

    mutating func contains(_ reference: ObjectReference) -> Bool { place(of: reference) != nil }

    /// - Returns: False if the object is not in the list.
    @discardableResult
    mutating func remove(_ reference: ObjectReference) -> Bool {
        guard let place = place(of: reference) else { return false }
        entries[place] = nil
        places?[reference] = nil
        leftCount += 1
        if leftCount > 32, leftCount > entries.count / 2 { self = MemberList(handles) }
        return true
    }

    mutating func removeAll(_ references: Set<ObjectReference>) {
        self = MemberList(handles.filter { !references.contains($0.reference) })
    }

    private mutating func place(of reference: ObjectReference) -> Int? {
        if let places { return places[reference] }
        if entries.isEmpty { return nil }
        var made = [ObjectReference: Int](minimumCapacity: entries.count)
        for (place, handle) in entries.enumerated() {
            if let handle { made[handle.reference] = place }
        }
        places = made
        return made[reference]
    }
}
