internal import FaultlineLog
internal import FaultlineObjects

/// The pairs of old and new objects of a batch, by mapping.
///
/// Look-ups enter the pairs since the look-up before into two dictionaries, which chain pairs by their indexes: a batch
/// without look-ups is a plain array.
struct UnsavedPairs {
    struct Pair {
        /// The index of the mapping.
        let place: Int
        let source: RecordID
        let destination: ManagedObject
        /// The index of the next pair with the same old object and mapping; -1 for none.
        fileprivate var nextOfSource: Int32 = -1
        /// The index of the next pair with the same new object; -1 for none.
        fileprivate var nextOfDestination: Int32 = -1
    }

    private struct Key: Hashable {
        let place: Int
        let source: RecordID
    }

    /// Pairs by their indexes, in the order in which they were appended.
    private struct Chain {
        let first: Int32
        var last: Int32
        var count: Int32 = 1
    }

    private(set) var pairs: [Pair] = []
    private var indexedCount = 0
    private var destinations: [Key: Chain] = [:]
    private var sources: [ObjectIdentifier: Chain] = [:]

    mutating func append(_ source: RecordID, _ destination: ManagedObject, by place: Int) {
        pairs.append(Pair(place: place, source: source, destination: destination))
    }

    mutating func removeAll() {
        pairs.removeAll(keepingCapacity: true)
        guard indexedCount > 0 else { return }
        indexedCount = 0
        destinations.removeAll(keepingCapacity: true)
        sources.removeAll(keepingCapacity: true)
    }

    /// Whether a new object has an old one, by any mapping.
    mutating func contains(_ destination: ManagedObject) -> Bool {
        index()
        return sources[ObjectIdentifier(destination)] != nil
    }

    mutating func contains(_ source: RecordID, _ destination: ManagedObject, by place: Int) -> Bool {
        index()
        guard let sources = sources[ObjectIdentifier(destination)],
            let destinations = destinations[Key(place: place, source: source)]
        else { return false }
        // The shorter chain is searched.
        return destinations.count < sources.count
            ? visit(destinations, ofSource: true) { $0.destination === destination }
            : visit(sources, ofSource: false) { $0.place == place && $0.source == source }
    }

    /// The new objects of an old one, in the order of their creation.
    mutating func destinations(of source: RecordID, by place: Int) -> [ManagedObject] {
        guard !pairs.isEmpty else { return [] }
        index()
        var found: [ManagedObject] = []
        guard let chain = destinations[Key(place: place, source: source)] else { return found }
        visit(chain, ofSource: true) { pair in
            found.append(pair.destination)
            return false
        }
        return found
    }

    /// The old objects of a new one.
    mutating func sources(of destination: ManagedObject, by place: Int) -> [RecordID] {
        guard !pairs.isEmpty else { return [] }
        index()
        var found: [RecordID] = []
        guard let chain = sources[ObjectIdentifier(destination)] else { return found }
        visit(chain, ofSource: false) { pair in
            if pair.place == place { found.append(pair.source) }
            return false
        }
        return found
    }

    /// Calls `body` with the pairs of a chain, of an old object or of a new one, until it returns true.
    ///
    /// - Returns: Whether it has returned true.
    @discardableResult
    private func visit(_ chain: Chain, ofSource: Bool, until body: (Pair) -> Bool) -> Bool {
        var place = chain.first
        while place >= 0 {
            let pair = pairs[Int(place)]
            if body(pair) { return true }
            place = ofSource ? pair.nextOfSource : pair.nextOfDestination
        }
        return false
    }

    private mutating func index() {
        while indexedCount < pairs.count {
            let place = Int32(indexedCount)
            let pair = pairs[indexedCount]
            let key = Key(place: pair.place, source: pair.source)
            if let last = Self.extend(&destinations[key], by: place) { pairs[last].nextOfSource = place }
            let identifier = ObjectIdentifier(pair.destination)
            if let last = Self.extend(&sources[identifier], by: place) { pairs[last].nextOfDestination = place }
            indexedCount += 1
        }
    }

    /// Appends a pair to a chain, which it may begin.
    ///
    /// - Returns: The index of the pair before it, if there is one.
    private static func extend(_ chain: inout Chain?, by place: Int32) -> Int? {
        guard var longer = chain else {
            chain = Chain(first: place, last: place)
            return nil
        }
        let last = Int(longer.last)
        longer.last = place
        longer.count += 1
        chain = longer
        return last
    }
}
