/// Objects in a given order, found by their reference: one can be removed without a walk through the others.
struct MemberList {
    /// Nil for removed objects.
    private var entries: [ObjectHandle?]
    /// The last position of each reference; made when one is first looked up.
    private var places: [ObjectReference: Int]?
    private var leftCount = 0
    /// Unsaved objects of the list that a migration stage has let go; what asks for the objects brings them back first.
    private(set) var spilledCount = 0
    /// The greatest number of the objects that were in the list when some were let go: all were in the order of their
    /// numbers.
    private var spilledLast: UInt64 = 0
    /// Entries that are left of those objects.
    private var knownCount = 0

    init(_ handles: [ObjectHandle] = []) { entries = handles }

    var handles: [ObjectHandle] { entries.compactMap { $0 } }

    /// Calls `body` with each object, in their order.
    func forEach(_ body: (ObjectHandle) -> Void) {
        for case let handle? in entries { body(handle) }
    }

    var isEmpty: Bool { entries.count == leftCount && spilledCount == 0 }

    /// Whether all objects that are not deleted are unsaved, and are in the order of their numbers.
    var isNewByNumber: Bool {
        // The list keeps the objects alive: none is retained during the walk.
        entries.withUnsafeBufferPointer { entries in
            var last = spilledLast
            for place in entries.indices.dropFirst(knownCount) {
                guard let core = entries[place].map(\.core), !core.pointee.isDeleted else { continue }
                guard core.pointee.has(.temporary), core.pointee.number > last else { return false }
                last = core.pointee.number
            }
            return true
        }
    }

    /// Whether no object is stored, not even a deleted one.
    private var hasOnlyUnsaved: Bool { entries.allSatisfy { $0?.core.pointee.has(.temporary) != false } }

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
        if leftCount > 32, leftCount > entries.count / 2, spilledCount == 0 { self = MemberList(handles) }
        return true
    }

    // MARK: Objects that are let go

    /// Lets go of all objects, if they are unsaved and in the order of their numbers; `putBack` must follow.
    ///
    /// - Returns: Their cores; nil if the list holds them still.
    mutating func takeOut() -> [UnsafeMutablePointer<ModelCore>]? {
        guard entries.count > leftCount, isNewByNumber, hasOnlyUnsaved else { return nil }
        let cores = entries.compactMap { $0?.core }
        spilledLast = max(spilledLast, cores.reduce(0) { max($0, $1.pointee.number) })
        entries.removeAll()
        places = nil
        leftCount = 0
        return cores
    }

    /// Holds those objects again that were not let go.
    ///
    /// - Parameters:
    ///   - handles: The objects, in their order.
    ///   - count: How many were let go.
    mutating func putBack(_ handles: [ObjectHandle], spilled count: Int) {
        entries = handles
        spilledCount += count
        knownCount = spilledCount == 0 ? 0 : handles.count
        if spilledCount == 0 { spilledLast = 0 }
    }

    /// Holds the objects again that were let go, now that they are made again.
    mutating func bringBack(_ made: [ObjectHandle]) {
        guard spilledCount > 0 else { return }
        let known = entries[..<knownCount].compactMap { $0 } + made
        let later = entries[knownCount...].compactMap { $0 }
        self = MemberList(known.sorted { $0.reference.number < $1.reference.number } + later)
    }

    /// Removes objects; those that were let go stay members.
    mutating func removeAll(_ references: Set<ObjectReference>) {
        func kept(_ entries: ArraySlice<ObjectHandle?>) -> [ObjectHandle] {
            entries.compactMap { $0 }.filter { !references.contains($0.reference) }
        }
        let known = kept(entries[..<knownCount])
        var list = MemberList(known + kept(entries[knownCount...]))
        list.spilledCount = spilledCount
        list.spilledLast = spilledLast
        list.knownCount = known.count
        self = list
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
