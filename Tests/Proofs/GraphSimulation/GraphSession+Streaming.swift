internal import Faultline
internal import FaultlineObjects

extension GraphSession {
    /// Reads all objects of a class as a stream of values, which must belong to one state: that of the first batch.
    ///
    /// - Parameters:
    ///   - descriptor: One of `nodes`, `assets` and `machines`.
    ///   - size: The number of objects in a batch.
    ///   - between: Called after each batch; it may save.
    /// - Throws: `GraphViolation`; the errors of the stream and of `between`.
    func walkStream<T: GraphObject>(
        _ descriptor: FetchDescriptor<T>, _ size: Int, between: () throws -> Void
    ) throws {
        let (wanted, named) = (world.committed, world.identifiers)
        let stream = world.container.stream(descriptor, batchSize: size, including: [.collections])
        let reader = StreamReader()
        reader.begin(stream)
        defer { reader.end() }
        var copies: [ValueCopy] = []
        while let batch = try reader.next() {
            guard batch.count <= size else { throw GraphViolation("a batch has \(batch.count)") }
            copies += batch
            try between()
        }
        if world.canary == .streams { copies = copies.dropLast() }
        try expect("stream", copies.map { $0["key"]?.int ?? -1 }, Self.walked(wanted, T.self))
        for copy in copies { try compare(copy, wanted, named) }
    }

    private func compare(_ copy: ValueCopy, _ state: GraphState, _ named: [Int: PersistentIdentifier]) throws {
        let key = copy["key"]?.int ?? -1
        guard let node = state.nodes[key] else { throw GraphViolation("a stream has \(key)") }
        guard copy.id == named[key], copy["number"]?.int == node.number, copy["name"]?.string == node.name else {
            throw GraphViolation("a stream has \(copy.values) for \(key), \(node)")
        }
        let own = ["power", "reach"].compactMap { copy[$0] }.map { $0.int ?? Int($0.double ?? -1) }
        guard own == node.own, copy["mark"]?.int == node.mark else {
            throw GraphViolation("a stream has \(copy.values) for \(key), \(node)")
        }
        for place in shape.ofKind[node.kind] {
            let property = shape.properties[place]
            let members = state.shown(key, place).compactMap { named[$0] }
            let found: [PersistentIdentifier]
            switch copy[String(property.name.drop { $0 != "." }.dropFirst())] {
            case .object(let one)?: found = [one]
            case .objects(let all)?: found = all
            case .null?: found = []
            default: throw GraphViolation("a stream has no \(property.name) of \(key)")
            }
            guard found == members else {
                throw GraphViolation("a stream has \(found) for \(property.name) of \(key) instead of \(members)")
            }
        }
    }
}
