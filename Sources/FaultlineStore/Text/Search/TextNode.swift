internal import FaultlineLog

/// Visits the objects that a part of a query selects, in ascending order, by the index.
///
/// Objects that are set aside are not visited. Not for two threads at once.
class TextNode {
    /// The current object; `UInt64.max` at the end, 0 before the first move.
    // Safe because no access to a number calls anything.
    @exclusivity(unchecked) final var current: RecordID = 0

    /// Moves to the first object that is not below another one; does nothing if the current one is not.
    func seek(_ id: RecordID) throws(StoreError) {}

    /// Adds how often the current object has the phrases of the parts that select it.
    ///
    /// - Parameters:
    ///   - id: The object of the whole query; nothing is added if the part does not select it.
    ///   - found: Gets the counts.
    /// - Throws: Errors of reading, and of postings that no object has.
    func collect(_ id: RecordID, into found: inout PhraseCounts) throws(StoreError) {}
}

/// Visits the objects that all of some parts select, and none of others.
final class AndNode: TextNode {
    private let parts: [TextNode]
    private let others: [TextNode]

    init(_ parts: [TextNode], without others: [TextNode]) {
        self.parts = parts
        self.others = others
    }

    override func seek(_ id: RecordID) throws(StoreError) {
        guard current < id, current != .max else { return }
        var target = id
        search: while true {
            for part in parts {
                try part.seek(target)
                if part.current > target, part !== parts.first {
                    target = part.current
                    if target == .max { break }
                    continue search
                }
                target = part.current
                if target == .max { break }
            }
            if target == .max {
                current = .max
                return
            }
            for other in others {
                try other.seek(target)
                if other.current == target {
                    target += 1
                    continue search
                }
            }
            current = target
            return
        }
    }

    override func collect(_ id: RecordID, into found: inout PhraseCounts) throws(StoreError) {
        guard current == id else { return }
        for part in parts { try part.collect(id, into: &found) }
    }
}

/// Visits the objects that at least one of some parts selects.
final class OrNode: TextNode {
    private let parts: [TextNode]

    init(_ parts: [TextNode]) { self.parts = parts }

    override func seek(_ id: RecordID) throws(StoreError) {
        guard current < id, current != .max else { return }
        var least = RecordID.max
        for part in parts {
            try part.seek(id)
            least = min(least, part.current)
        }
        current = least
    }

    override func collect(_ id: RecordID, into found: inout PhraseCounts) throws(StoreError) {
        guard current == id else { return }
        for part in parts { try part.collect(id, into: &found) }
    }
}

/// Visits all objects, with the lengths of their texts.
final class LengthsNode: TextNode {
    private let index: TextIndex
    private let cursor: PostingCursor?

    init(of index: TextIndex, in snapshot: Snapshot) throws(StoreError) {
        self.index = index
        do throws(LogError) { cursor = try snapshot.postings(in: index.definition, term: []) } catch {
            throw StoreError(error)
        }
    }

    override func seek(_ id: RecordID) throws(StoreError) {
        guard current < id, current != .max else { return }
        current = try index.seek(id, cursor)
    }

    /// Calls `body` with the length of each field of the current object.
    func forEachLength(_ body: (_ field: Int, _ length: Int) -> Void) throws(StoreError) {
        guard let cursor, current != .max else { return }
        var reader = PostingReader(cursor.payload)
        for field in index.slots.indices {
            let length = reader.number()
            guard !reader.isMalformed else { throw index.malformed() }
            body(field, length)
        }
        guard reader.isAtEnd else { throw index.malformed() }
    }
}

/// Visits nothing.
final class EmptyNode: TextNode {
    override func seek(_ id: RecordID) throws(StoreError) { current = .max }
}
