internal import FaultlineLog
internal import FaultlineObjects

/// The pairs of old and new objects of a batch, by mapping.
struct UnsavedPairs {
    struct Pair {
        /// The index of the mapping.
        let place: Int
        let source: RecordID
        let destination: ManagedObject
    }

    private struct Key: Hashable {
        let place: Int
        let source: RecordID
    }

    private(set) var pairs: [Pair] = []
    private var destinations: [Key: [ManagedObject]] = [:]
    private var sources: [ObjectIdentifier: [(place: Int, source: RecordID)]] = [:]

    mutating func append(_ source: RecordID, _ destination: ManagedObject, by place: Int) {
        destinations[Key(place: place, source: source), default: []].append(destination)
        sources[ObjectIdentifier(destination), default: []].append((place, source))
        pairs.append(Pair(place: place, source: source, destination: destination))
    }

    mutating func removeAll() {
        pairs.removeAll(keepingCapacity: true)
        destinations.removeAll(keepingCapacity: true)
        sources.removeAll(keepingCapacity: true)
    }

    /// Whether a new object has an old one, by any mapping.
    func contains(_ destination: ManagedObject) -> Bool { sources[ObjectIdentifier(destination)] != nil }

    func contains(_ source: RecordID, _ destination: ManagedObject, by place: Int) -> Bool {
        // The shorter list is searched.
        guard let sources = sources[ObjectIdentifier(destination)],
            let destinations = destinations[Key(place: place, source: source)]
        else { return false }
        return destinations.count < sources.count
            ? destinations.contains { $0 === destination }
            : sources.contains { $0.place == place && $0.source == source }
    }

    /// The new objects of an old one, in the order of their creation.
    func destinations(of source: RecordID, by place: Int) -> [ManagedObject] {
        destinations[Key(place: place, source: source)] ?? []
    }

    /// The old objects of a new one.
    func sources(of destination: ManagedObject, by place: Int) -> [RecordID] {
        (sources[ObjectIdentifier(destination)] ?? []).filter { $0.place == place }.map(\.source)
    }
}
