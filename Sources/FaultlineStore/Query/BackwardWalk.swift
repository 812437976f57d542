package import FaultlineLog

extension Snapshot {
    /// Calls `body` with the objects in a range of a secondary index in the order of their keys; it returns false to stop.
    ///
    /// Objects with the same key come in the order of their creation, in either direction.
    ///
    /// - Throws: `LogError` if a run cannot be read or does not verify; the error of `body`.
    package func walk(
        _ range: IndexSelection.KeyRange, of index: SecondaryIndex, _ order: IndexSelection.Order,
        _ body: (RecordID) throws -> Bool
    ) throws {
        switch order {
        case .ascending: try forEachEntry(in: index.definition, range) { _, id in try body(id) }
        case .descending: try BackwardWalk(snapshot: self, index: index.definition, range: range).run(body)
        }
    }

    /// The same for the objects behind a position; nil for all.
    ///
    /// Objects with the key of the position are skipped without being read.
    ///
    /// - Throws: As the other form.
    package func walk(
        _ range: IndexSelection.KeyRange, of index: SecondaryIndex, _ order: IndexSelection.Order,
        behind place: IndexSelection.Place?, _ body: (RecordID) throws -> Bool
    ) throws {
        guard let place else { return try walk(range, of: index, order, body) }
        let next = place.key + [0]
        var goesOn = true
        if !place.key.lexicographicallyPrecedes(range.first), place.key.lexicographicallyPrecedes(range.end) {
            let equal = IndexSelection.KeyRange(prefix: range.prefix, first: place.key, end: next)
            try forEachEntry(in: index.definition, equal) { _, id in
                if id > place.id { goesOn = try body(id) }
                return goesOn
            }
        }
        guard goesOn else { return }
        let rest =
            switch order {
            case .ascending:
                IndexSelection.KeyRange(
                    prefix: range.prefix, first: range.first.lexicographicallyPrecedes(next) ? next : range.first,
                    end: range.end)
            case .descending:
                IndexSelection.KeyRange(
                    prefix: range.prefix, first: range.first,
                    end: place.key.lexicographicallyPrecedes(range.end) ? place.key : range.end)
            }
        guard rest.first.lexicographicallyPrecedes(rest.end) else { return }
        try walk(rest, of: index, order, body)
    }

    /// Calls `body` with each entry of a range, ascending; it returns false to stop.
    package func forEachEntry(
        in index: IndexDefinition, _ range: IndexSelection.KeyRange,
        _ body: (_ key: UnsafeRawBufferPointer, _ id: RecordID) throws -> Bool
    ) throws {
        try forEachEntry(in: index, prefix: range.prefix, from: range.first, below: range.end, body)
    }
}

/// Visits a range from its end: reads one piece of it at a time forwards, and visits the piece backwards.
///
/// Runs can be read forwards only. The pieces are some blocks long, so a short walk reads few entries, and memory is
/// that of a piece.
private struct BackwardWalk {
    let snapshot: Snapshot
    let index: IndexDefinition
    let range: IndexSelection.KeyRange

    /// The largest number of objects of one key that a piece holds; objects of a larger group are read again.
    private static let heldCountMax = 256
    private static let spanMax = 16

    /// The objects that have one key.
    private struct Group {
        let key: [UInt8]
        var numbers: [RecordID]
        var isHeld = true
    }

    func run(_ body: (RecordID) throws -> Bool) throws {
        var end = range.end
        var span = 2
        while true {
            let near = try snapshot.walkStart(in: index, below: end, span: span)
            let isLast = !range.first.lexicographicallyPrecedes(near)
            let start = isLast ? range.first : near
            for group in try groups(from: start, below: end).reversed() {
                guard try visit(group, body) else { return }
            }
            if isLast { return }
            end = start
            span = min(span * 2, Self.spanMax)
        }
    }

    private func groups(from start: [UInt8], below end: [UInt8]) throws -> [Group] {
        var groups: [Group] = []
        var start: [UInt8]? = start
        while let first = start {
            start = nil
            try snapshot.forEachEntry(in: index, prefix: range.prefix, from: first, below: end) { key, id in
                let last = groups.count - 1
                guard last >= 0, groups[last].key.elementsEqual(key) else {
                    groups.append(Group(key: Array(key), numbers: [id]))
                    return true
                }
                if groups[last].numbers.count < Self.heldCountMax {
                    groups[last].numbers.append(id)
                    return true
                }
                groups[last].isHeld = false
                groups[last].numbers.removeAll()
                start = groups[last].key + [0]
                return false
            }
        }
        return groups
    }

    /// Visits a group, and returns whether `body` continues.
    private func visit(_ group: Group, _ body: (RecordID) throws -> Bool) throws -> Bool {
        guard !group.isHeld else {
            for number in group.numbers { guard try body(number) else { return false } }
            return true
        }
        var wantsMore = true
        try snapshot.forEachEntry(in: index, prefix: group.key, from: group.key, below: group.key + [0]) { _, id in
            wantsMore = try body(id)
            return wantsMore
        }
        return wantsMore
    }
}
