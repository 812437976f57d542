internal import FaultlineLog
internal import FaultlineText

/// Visits the objects that have a word, in ascending order.
class AtomCursor: ObjectWalk {
    /// The places of the word in the object for which they were read last.
    // Safe because only `readPlaces` changes them, and no user of them calls it.
    @exclusivity(unchecked) fileprivate(set) final var places: AtomPlaces

    fileprivate init(fieldCount: Int) { places = AtomPlaces(fieldCount: fieldCount) }

    /// Reads the fields of the current object that have the word: how often, and where.
    func readPlaces(wantsPositions: Bool) throws(StoreError) {}
}

/// Visits the objects that have one term.
final class TermCursor: AtomCursor {
    private let postings: TermPostings

    init(_ term: [UInt8], of index: TextIndex, in snapshot: Snapshot) throws(StoreError) {
        postings = try TermPostings(term, of: index, in: snapshot)
        super.init(fieldCount: index.slots.count)
    }

    override func seek(_ id: RecordID) throws(StoreError) {
        guard current < id, current != .max else { return }
        current = try postings.seek(id)
    }

    override func readPlaces(wantsPositions: Bool) throws(StoreError) {
        places.removeAll()
        guard current != .max else { return }
        guard postings.withPayload({ places.add($0, wantsPositions: wantsPositions) }) else {
            throw postings.malformed()
        }
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
        super.init(fieldCount: index.slots.count)
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

    override func readPlaces(wantsPositions: Bool) throws(StoreError) {
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
