internal import FaultlineLog

/// Visits the objects that a part of a query selects, in ascending order, by the index.
///
/// Objects that are set aside are not visited.
class TextNode: ObjectWalk {
    /// Adds how often the current object has the phrases of the parts that select it.
    ///
    /// - Parameters:
    ///   - id: The object of the whole query; nothing is added if the part does not select it.
    ///   - found: For each ranked phrase, each field: gets the counts.
    /// - Throws: Errors of reading, and of postings that no object has.
    func collect(_ id: RecordID, into found: UnsafeMutableBufferPointer<UInt32>) throws(StoreError) {}
}

/// Visits the objects that all of some parts select, and none of others.
final class AndNode: TextNode {
    private let parts: UncountedList<TextNode>
    private let others: UncountedList<TextNode>

    init(_ parts: [TextNode], without others: [TextNode]) {
        self.parts = UncountedList(parts)
        self.others = UncountedList(others)
    }

    override func seek(_ id: RecordID) throws(StoreError) {
        guard current < id, current != .max else { return }
        var target = id
        while true {
            target = try parts.agreed(target)
            if target == .max { break }
            if try !isExcluded(&target) { break }
        }
        current = target
    }

    /// Whether one of the others selects an object; if so, moves behind it.
    private func isExcluded(_ target: inout RecordID) throws(StoreError) -> Bool {
        for place in 0..<others.count {
            let found = try others.with(place) { (other) throws(StoreError) in
                try other.seek(target)
                return other.current
            }
            if found == target {
                target += 1
                return true
            }
        }
        return false
    }

    override func collect(_ id: RecordID, into found: UnsafeMutableBufferPointer<UInt32>) throws(StoreError) {
        guard current == id else { return }
        for place in 0..<parts.count {
            try parts.with(place) { (part) throws(StoreError) in try part.collect(id, into: found) }
        }
    }
}

/// Visits the objects that at least one of some parts selects.
final class OrNode: TextNode {
    private let parts: UncountedList<TextNode>

    init(_ parts: [TextNode]) { self.parts = UncountedList(parts) }

    override func seek(_ id: RecordID) throws(StoreError) {
        guard current < id, current != .max else { return }
        var least = RecordID.max
        for place in 0..<parts.count {
            let found = try parts.with(place) { (part) throws(StoreError) in
                try part.seek(id)
                return part.current
            }
            least = min(least, found)
        }
        current = least
    }

    override func collect(_ id: RecordID, into found: UnsafeMutableBufferPointer<UInt32>) throws(StoreError) {
        guard current == id else { return }
        for place in 0..<parts.count {
            try parts.with(place) { (part) throws(StoreError) in try part.collect(id, into: found) }
        }
    }
}

/// Visits all objects, with the lengths of their texts.
final class LengthsNode: TextNode {
    private let fieldCount: Int
    private let postings: TermPostings

    init(of index: TextIndex, in snapshot: Snapshot) throws(StoreError) {
        fieldCount = index.slots.count
        postings = try TermPostings([], of: index, in: snapshot)
    }

    override func seek(_ id: RecordID) throws(StoreError) {
        guard current < id, current != .max else { return }
        current = try postings.seek(id)
    }

    /// Calls `body` with the length of each field of the current object.
    @inline(__always)
    func forEachLength(_ body: (_ field: Int, _ length: Int) -> Void) throws(StoreError) {
        guard current != .max else { return }
        let isWhole = postings.withPayload { payload in
            var reader = PostingReader(payload)
            for field in 0..<fieldCount {
                let length = reader.number()
                if reader.isMalformed { return false }
                body(field, length)
            }
            return reader.isAtEnd
        }
        guard isWhole else { throw postings.malformed() }
    }
}

/// Visits nothing.
final class EmptyNode: TextNode {
    override func seek(_ id: RecordID) throws(StoreError) { current = .max }
}
