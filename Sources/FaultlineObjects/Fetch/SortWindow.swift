internal import FaultlineStore

/// The order of a fetch and the reach of its window: makes the sort keys, and decides which are outside.
///
/// It does not depend on the objects' class, so that a row outside the window costs a key and a comparison.
final class SortWindow {
    let order: [(slot: Int, isAscending: Bool)]
    /// How many matches the window reaches; nil if it has no end.
    let reach: Int?
    /// The key of the last element, made in the same memory each time.
    @exclusivity(unchecked) private var key = KeyWriter()
    /// The key that new elements must be before; empty while fewer have come than the window reaches.
    @exclusivity(unchecked) private var bound: [UInt8] = []

    init(order: [(slot: Int, isAscending: Bool)], reach: Int?) {
        self.order = order
        self.reach = reach
    }

    /// Sets the end of the window: before a key.
    func end(before key: ArraySlice<UInt8>) { bound = Array(key) }

    /// Whether the window may reach a row; `load` reads a large value.
    @inline(__always)
    func reaches(_ row: RowView, load: (BlobReference) throws -> [UInt8]) throws -> Bool {
        if order.isEmpty { return true }
        key.removeAll()
        // By index: an iterator would retain the array.
        for index in 0..<order.count
        where !key.append(row: row, slot: order[index].slot, isAscending: order[index].isAscending) {
            try append(row.blobReference(order[index].slot), row.variableFlags(order[index].slot), index, load)
        }
        return isBeforeBound
    }

    /// Whether the window may reach an object with unsaved values.
    func reaches(_ draft: Draft, load: (BlobReference) throws -> [UInt8]) throws -> Bool {
        key.removeAll()
        for (index, (slot, isAscending)) in order.enumerated()
        where !key.append(draft: draft, slot: slot, isAscending: isAscending) {
            try append(draft.blobReference(slot), draft.variableFlags(slot), index, load)
        }
        return isBeforeBound
    }

    /// Appends the key of a large value.
    @inline(never)
    private func append(
        _ reference: BlobReference?, _ flags: VariableFlags, _ index: Int, _ load: (BlobReference) throws -> [UInt8]
    ) throws {
        guard let reference else { return }
        try load(reference).withUnsafeBytes {
            key.append(loaded: $0, flags: flags, isAscending: order[index].isAscending)
        }
    }

    /// Passes on the key that was made last.
    @inline(__always)
    func withKey<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R { key.withBytes(body) }

    /// Whether the key that was made last is in the window; an equal one came later, and is not.
    @inline(__always)
    private var isBeforeBound: Bool {
        bound.isEmpty || key.withBytes { key in bound.withUnsafeBytes { KeyOrder.compare(key, $0) < 0 } }
    }
}

/// Compares keys as bytes.
enum KeyOrder {
    /// Returns −1, 0 or 1 if the first is before, equal to or after the second: a key that is the beginning of the
    /// other is before it.
    @inline(__always)
    static func compare(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
        let common = min(left.count, right.count)
        var place = 0
        while place + 8 <= common {
            let (one, other) = (word(left, place), word(right, place))
            if one != other { return one < other ? -1 : 1 }
            place += 8
        }
        while place < common {
            if left[place] != right[place] { return left[place] < right[place] ? -1 : 1 }
            place += 1
        }
        return left.count == right.count ? 0 : left.count < right.count ? -1 : 1
    }

    /// The first eight bytes, the first as the highest; with zeros after a shorter key.
    static func prefix(_ key: UnsafeRawBufferPointer) -> UInt64 {
        if key.count >= 8 { return word(key, 0) }
        return key.reduce(0) { $0 << 8 | UInt64($1) } << UInt64(8 * (8 - key.count))
    }

    @inline(__always)
    private static func word(_ bytes: UnsafeRawBufferPointer, _ place: Int) -> UInt64 {
        UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
    }
}
