extension GraphState {
    /// The result of saving this graph.
    enum Saved {
        case graph(GraphState)
        /// The reason why it must be refused.
        case refused(String)
    }

    /// All objects that are deleted along with the deleted ones, through cascades.
    func doomed(_ shape: GraphShape, isCascading: Bool = true) -> Set<Int> {
        var doomed = deleted
        guard isCascading else { return doomed }
        var waiting = Array(doomed)
        while let key = waiting.popLast() {
            guard let node = nodes[key] else { continue }
            for property in shape.ofKind[node.kind] where shape.properties[property].rule == .cascade {
                for target in raw(key, property) where nodes[target] != nil && doomed.insert(target).inserted {
                    waiting.append(target)
                }
            }
        }
        return doomed
    }

    /// Applies the delete rules and checks all rules.
    func saved(_ shape: GraphShape, _ canary: GraphCanary? = nil) -> Saved {
        let doomed = doomed(shape, isCascading: canary != .cascades)
        if let refusal = denial(doomed, shape), canary != .denies { return .refused(refusal) }
        var result = self
        for key in doomed { result.remove(key, doomed, shape, isClearing: canary != .clears) }
        if let refusal = result.brokenRule(shape, canary) { return .refused(refusal) }
        result.deleted = []
        result.unsaved = []
        return .graph(result)
    }

    private func denial(_ doomed: Set<Int>, _ shape: GraphShape) -> String? {
        for key in doomed.sorted() {
            guard let node = nodes[key] else { continue }
            for property in shape.ofKind[node.kind] {
                let staying = raw(key, property).filter { nodes[$0] != nil && !doomed.contains($0) }
                guard let first = staying.first else { continue }
                let rule = shape.properties[property].rule
                if rule == .deny { return "\(shape.properties[property].name) of \(key) denies" }
                guard rule == .nullify, let inverse = shape.inverses[property], shape.properties[inverse].isRequired
                else { continue }
                return "\(shape.properties[inverse].name) of \(first) would be cleared"
            }
        }
        return nil
    }

    /// Removes an object, and clears references as the rules define.
    private mutating func remove(_ key: Int, _ doomed: Set<Int>, _ shape: GraphShape, isClearing: Bool) {
        guard let node = nodes.removeValue(forKey: key) else { return }
        for (other, partner) in nodes where !doomed.contains(other) {
            for (property, members) in partner.slots where members.contains(key) {
                let isToOne = shape.properties[property].isToOne
                let clears = shape.inverses[property].map { shape.properties[$0].rule == .nullify } ?? false
                // The number of an object that was never saved is not kept.
                guard !isToOne || clears && isClearing || unsaved.contains(key) else { continue }
                _ = node
                nodes[other]?.slots[property] = members.filter { $0 != key }
            }
        }
    }

    /// A rule that the graph would violate after a save; nil for none.
    private func brokenRule(_ shape: GraphShape, _ canary: GraphCanary?) -> String? {
        var names: Set<String> = []
        var marks: Set<Int> = []
        for key in nodes.keys.sorted() {
            guard let node = nodes[key] else { continue }
            if let name = node.name, !names.insert(name).inserted { return "\(name) is the name of two" }
            if let mark = node.mark, GraphKind.covers[GraphKind.machine][node.kind], canary != .marks,
                !marks.insert(mark).inserted
            {
                return "\(mark) is the mark of two machines"
            }
            for place in shape.ofKind[node.kind] {
                let property = shape.properties[place]
                if property.isRequired, raw(key, place).isEmpty { return "\(property.name) of \(key) is missing" }
                let count = raw(key, place).count { nodes[$0] != nil }
                if !property.isToOne, !property.bounds.contains(count) {
                    return "\(property.name) of \(key) has \(count)"
                }
            }
        }
        return nil
    }
}
