internal import FaultlineStore

/// Objects of a context, each once: a list from which one is taken without a search through the others.
///
/// The places are found by the object, in a table that the first removal makes and that appending keeps. Taking an
/// object out puts the last one in its place, so that the order is that of appending until then.
struct HandleList: RandomAccessCollection, RangeReplaceableCollection {
    private var handles: [ObjectHandle] = []
    /// Places by object; nil until one is taken out, and again after a change of several.
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

    /// Takes an object out; does nothing if it is not there.
    ///
    /// - Complexity: Constant but for the first time, which is linear.
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

    /// As that of an array.
    @inline(__always)
    func forEachKept(
        _ body: (_ place: Int, _ core: UnsafeMutablePointer<ModelCore>, _ entity: EntityStorage) throws -> Void
    ) rethrows {
        try handles.forEachKept(body)
    }
}
