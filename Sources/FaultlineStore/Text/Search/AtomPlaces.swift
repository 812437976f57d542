/// The places of a word, or of the words with some beginning, in the fields of one object; kept for the next object.
///
/// A place is a field and a position in it, as one number: places of an object have the order of its texts, and the
/// word behind a place has the next number.
struct AtomPlaces: ~Copyable {
    /// Bits of a position; one more than it needs, so that the number behind the last one is in the same field.
    static let positionBits: UInt64 = 33

    @inline(__always)
    static func place(field: Int, position: UInt32) -> UInt64 {
        UInt64(truncatingIfNeeded: field) << positionBits | UInt64(position)
    }

    @inline(__always)
    static func field(of place: UInt64) -> Int { Int(truncatingIfNeeded: place >> positionBits) }

    @inline(__always)
    static func position(of place: UInt64) -> Int { Int(truncatingIfNeeded: place & (1 << positionBits - 1)) }

    private let fieldCount: Int
    private let frequencies: UnsafeMutablePointer<Int>
    private var places: UnsafeMutablePointer<UInt64>
    private var capacity = 16
    private var count = 0
    /// Whether the index does not keep some of the positions.
    private(set) var isCut = false
    private var postingCount = 0

    init(fieldCount: Int) {
        self.fieldCount = fieldCount
        frequencies = .allocate(capacity: max(fieldCount, 1))
        frequencies.initialize(repeating: 0, count: max(fieldCount, 1))
        places = .allocate(capacity: capacity)
    }

    deinit {
        frequencies.deallocate()
        places.deallocate()
    }

    /// How often a field has the word.
    @inline(__always)
    func frequency(_ field: Int) -> Int { frequencies[field] }

    /// The places, ascending, until the next change.
    @inline(__always) var all: UnsafeBufferPointer<UInt64> { UnsafeBufferPointer(start: places, count: count) }

    mutating func removeAll() {
        isCut = false
        postingCount = 0
        count = 0
        for field in 0..<fieldCount { frequencies[field] = 0 }
    }

    /// Adds the fields of a posting.
    ///
    /// - Returns: Whether the bytes are those of one.
    mutating func add(_ payload: UnsafeRawBufferPointer, wantsPositions: Bool) -> Bool {
        var reader = PostingReader(payload)
        postingCount += 1
        while let (field, frequency, hasPositions) = reader.next() {
            guard field < fieldCount else { return false }
            frequencies[field] += frequency
            if !hasPositions {
                isCut = true
            } else if wantsPositions {
                reserve(frequency)
                count += reader.readPositions(frequency, of: field, into: places + count)
            } else {
                reader.skip(frequency)
            }
        }
        return !reader.isMalformed && reader.isAtEnd && !payload.isEmpty
    }

    /// Makes room for so many further places, which are no more than the bytes of a posting.
    private mutating func reserve(_ further: Int) {
        guard count + further > capacity else { return }
        capacity = max(count + further, capacity * 2)
        let larger = UnsafeMutablePointer<UInt64>.allocate(capacity: capacity)
        larger.update(from: places, count: count)
        places.deallocate()
        places = larger
    }

    /// Brings the places of several words into their order.
    mutating func order() {
        guard postingCount > 1 else { return }
        var unordered = UnsafeMutableBufferPointer(start: places, count: count)
        unordered.sort()
    }
}
