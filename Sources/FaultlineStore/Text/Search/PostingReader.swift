internal import FaultlineLog

/// Reads the fields of a key of a text index, behind its term and object: docs/FileFormat.md 13.7.
///
/// All numbers are checked: none is above `UInt32.max`, fields and positions ascend, and no loop is longer than the
/// bytes.
struct PostingReader {
    /// The greatest length, frequency and position.
    static let numberMax = Int(UInt32.max)

    private let bytes: UnsafeRawBufferPointer
    private var place = 0
    private var previousField = -1
    /// Whether the bytes are not those of a key.
    private(set) var isMalformed = false

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// Whether all bytes were read.
    var isAtEnd: Bool { place == bytes.count }

    /// Reads the next field; its positions follow if it has some.
    mutating func next() -> (field: Int, frequency: Int, hasPositions: Bool)? {
        guard place < bytes.count, !isMalformed else { return nil }
        let head = number()
        let frequency = head & 1 != 0 ? 1 : number()
        let field = head >> 2
        let hasPositions = head & 2 == 0
        // Each position takes a byte at least.
        guard !isMalformed, frequency > 0, field > previousField, !hasPositions || frequency <= bytes.count - place
        else {
            isMalformed = true
            return nil
        }
        previousField = field
        return (field, frequency, hasPositions)
    }

    /// Reads so many positions, and writes their places.
    ///
    /// - Parameters:
    ///   - count: The number of positions, no more than the bytes that are left.
    ///   - field: Their field.
    ///   - places: Room for them.
    /// - Returns: How many were read; fewer if the bytes are malformed.
    mutating func readPositions(_ count: Int, of field: Int, into places: UnsafeMutablePointer<UInt64>) -> Int {
        var position = -1
        for ordinal in 0..<count {
            let difference = number()
            // The first one may be 0.
            let next = position < 0 ? difference : position + difference
            guard !isMalformed, next > position, let found = UInt32(exactly: next) else {
                isMalformed = true
                return ordinal
            }
            position = next
            places[ordinal] = AtomPlaces.place(field: field, position: found)
        }
        return count
    }

    /// Passes so many positions.
    mutating func skip(_ count: Int) {
        for _ in 0..<count {
            _ = number()
            if isMalformed { return }
        }
    }

    /// Reads a number; 0 at the end of the bytes, or if it is too large, which is noted.
    @inline(__always)
    mutating func number() -> Int {
        if place < bytes.count, bytes[place] < 128 {
            place &+= 1
            return Int(bytes[place &- 1])
        }
        return longNumber()
    }

    private mutating func longNumber() -> Int {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), through: 28, by: 7) {
            guard place < bytes.count else { break }
            let byte = bytes[place]
            place += 1
            value |= UInt64(byte & 127) << shift
            if byte < 128 {
                guard value <= UInt64(Self.numberMax) else { break }
                return Int(value)
            }
        }
        isMalformed = true
        return 0
    }
}

extension UnsafeRawBufferPointer {
    /// The object that a key names at an offset; nil if the key is too short, or no object can have the number.
    func bigEndianID(at offset: Int) -> RecordID? {
        guard offset >= 0, count >= offset + 8 else { return nil }
        let id = RecordID(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        return (1...Limits.recordIDMax).contains(id) ? id : nil
    }
}
