/// The places of a word, or of the words with some beginning, in the fields of one object; kept for the next object.
struct AtomPlaces {
    /// By field: how often.
    private(set) var frequencies: [Int]
    /// By field: the positions, ascending.
    private(set) var positions: [[UInt32]]
    /// Whether the index does not keep some of the positions.
    private(set) var isCut = false
    /// Whether several words may have given positions.
    private var isMixed = false

    init(fieldCount: Int) {
        frequencies = Array(repeating: 0, count: fieldCount)
        positions = Array(repeating: [], count: fieldCount)
    }

    mutating func removeAll() {
        isCut = false
        isMixed = false
        for field in frequencies.indices where frequencies[field] > 0 {
            frequencies[field] = 0
            positions[field].removeAll(keepingCapacity: true)
        }
    }

    /// Adds the fields of a posting.
    ///
    /// - Returns: Whether the bytes are those of one.
    mutating func add(_ payload: UnsafeRawBufferPointer, wantsPositions: Bool) -> Bool {
        var reader = PostingReader(payload)
        while let (field, frequency, hasPositions) = reader.next() {
            guard field < frequencies.count else { return false }
            if frequencies[field] > 0 { isMixed = true }
            frequencies[field] += frequency
            if !hasPositions {
                isCut = true
            } else if wantsPositions {
                reader.addPositions(frequency, to: &positions[field])
            } else {
                reader.skip(frequency)
            }
        }
        return !reader.isMalformed && reader.isAtEnd && !payload.isEmpty
    }

    /// Brings the positions of several words into their order.
    mutating func order() {
        guard isMixed else { return }
        for field in positions.indices where positions[field].count > 1 { positions[field].sort() }
    }
}
