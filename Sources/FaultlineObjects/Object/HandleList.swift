internal import FaultlineStore

/// Objects of a context, each once: a list that can remove one without a search through the others.
///
/// Positions are looked up by object, in a table that the first removal makes and that appending updates. A removal
/// puts the last object in the free position, so the order is that of appending only until then.
struct HandleList: RandomAccessCollection, RangeReplaceableCollection {
    private var handles: [ObjectHandle] = []
    /// Positions by object; nil until the first removal, and again after a change of several objects.
    private var places: [ObjectIdentifier: Int]?

    init() {}

    /// The objects, in the order of the list.
    var array: [ObjectHandle] { handles }

    var startIndex: Int { 0 }
    var endIndex: Int { handles.count }
    subscript(position: Int) -> ObjectHandle {
        get { handles[position] }
        _modify { yield &handles[position] }
    }

    mutating func append(_ handle: ObjectHandle) {
        if places != nil { places?[ObjectIdentifier(handle.object)] = handles.count }
        handles.append(handle)
    }

    mutating func replaceSubrange(_ range: Range<Int>, with others: some Collection<ObjectHandle>) {
        places = nil
        handles.replaceSubrange(range, with: others)
    }

    mutating func removeAll(keepingCapacity: Bool = false) {
        places = nil
        handles.removeAll(keepingCapacity: keepingCapacity)
    }

    /// Removes an object; does nothing if it is not in the list.
    ///
    /// - Complexity: Constant, except the first time, which is linear.
    mutating func remove(_ handle: ObjectHandle) {
        if places == nil {
            var made: [ObjectIdentifier: Int] = [:]
            made.reserveCapacity(handles.count)
            for (place, handle) in handles.enumerated() { made[ObjectIdentifier(handle.object)] = place }
            places = made
        }
        guard let place = places?.removeValue(forKey: ObjectIdentifier(handle.object)) else { return }
        let last = handles.removeLast()
        guard place < handles.count else { return }
        handles[place] = last
        places?[ObjectIdentifier(last.object)] = place
    }

    /// As the method of arrays.
    @inline(__always)
    func forEachKept(
        _ body: (_ place: Int, _ core: UnsafeMutablePointer<ModelCore>, _ entity: EntityStorage) throws -> Void
    ) rethrows {
        try handles.forEachKept(body)
    }
}
