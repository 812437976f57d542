internal import FaultlineLog
internal import FaultlineText

/// Visits the objects that have a word, in ascending order.
///
/// Not for two threads at once.
class AtomCursor {
    /// The current object; `UInt64.max` at the end, 0 before the first move.
    // Safe because no access to a number calls anything.
    @exclusivity(unchecked) fileprivate(set) final var current: RecordID = 0

    /// Moves to the first object that is not below another one; does nothing if the current one is not.
    func seek(_ id: RecordID) throws(StoreError) {}

    /// Reads the fields of the current object that have the word: how often, and where.
    func read(wantsPositions: Bool, into places: inout AtomPlaces) throws(StoreError) {}
}

/// Visits the objects that have one term.
final class TermCursor: AtomCursor {
    private let cursor: PostingCursor?
    private let index: TextIndex

    init(_ term: [UInt8], of index: TextIndex, in snapshot: Snapshot) throws(StoreError) {
        self.index = index
        do throws(LogError) { cursor = try snapshot.postings(in: index.definition, term: term) } catch {
            throw StoreError(error)
        }
    }

    override func seek(_ id: RecordID) throws(StoreError) {
        guard current < id, current != .max else { return }
        current = try index.seek(id, cursor)
    }

    override func read(wantsPositions: Bool, into places: inout AtomPlaces) throws(StoreError) {
        places.removeAll()
        guard let cursor, current != .max else { return }
        guard places.add(cursor.payload, wantsPositions: wantsPositions) else { throw index.malformed() }
    }
}

/// Visits the objects that have a term with some beginning.
final class PrefixCursor: AtomCursor {
    private let index: TextIndex
    private let postings: PrefixPostings
    private var window: PrefixPostings.Window
    /// The postings of the current object, by their places in the window.
    private var range = 0..<0

    /// - Parameters:
    ///   - postings: Those of the beginning.
    ///   - index: The index.
    /// - Throws: Errors of reading.
    init(_ postings: PrefixPostings, of index: TextIndex) throws(StoreError) {
        self.index = index
        self.postings = postings
        window = try postings.window(from: 1)
    }

    override func seek(_ id: RecordID) throws(StoreError) {
        guard current < id, current != .max else { return }
        var target = id
        while true {
            if target >= window.end, window.end != .max {
                window = try postings.window(from: target)
                range = 0..<0
            }
            if let found = window.first(from: target, behind: range.upperBound) {
                range = found
                current = window.id(range.lowerBound)
                return
            }
            range = range.upperBound..<range.upperBound
            if window.end == .max {
                current = .max
                return
            }
            target = window.end
        }
    }

    override func read(wantsPositions: Bool, into places: inout AtomPlaces) throws(StoreError) {
        places.removeAll()
        for posting in range {
            guard window.withPayload(posting, { places.add($0, wantsPositions: wantsPositions) }) else {
                throw index.malformed()
            }
        }
        places.order()
    }
}

extension TextIndex {
    /// Moves a cursor to the first object that is not below another one.
    ///
    /// - Parameters:
    ///   - id: The object, above the current one.
    ///   - cursor: The cursor; nil if there are no entries.
    /// - Returns: The object found; `UInt64.max` at the end.
    /// - Throws: `malformed` for a key that no row has; errors of reading.
    func seek(_ id: RecordID, _ cursor: PostingCursor?) throws(StoreError) -> RecordID {
        guard let cursor else { return .max }
        let isThere: Bool
        do throws(LogError) { isThere = try cursor.advance(notBelow: id) } catch { throw StoreError(error) }
        if cursor.isMalformed || isThere && cursor.id > Limits.recordIDMax { throw malformed() }
        return isThere ? cursor.id : .max
    }

    /// The error for a key that no row has.
    func malformed() -> StoreError {
        StoreError(
            .malformed,
            """
            Text index \(definition.id.rawValue) of \(entityName) (\(names.joined(separator: ", "))) has an entry that no \
            object has. Run `faultline verify`, then `faultline salvage`, which makes the index anew.
            """)
    }
}
