internal import FaultlineLog

/// The keys of one row in a text index, in ascending order, none twice.
package struct TextKeys: Sendable, Equatable {
    private var bytes: [UInt8] = []
    private var ends: [Int] = []

    package init() {}

    /// The key of a row that is set aside.
    package static let aside: TextKeys = {
        var keys = TextKeys()
        keys.append { $0.append(TextTerms.asideMark) }
        return keys
    }()

    package var count: Int { ends.count }

    /// Adds a key above all others; `write` appends its bytes.
    mutating func append(_ write: (inout [UInt8]) -> Void) {
        write(&bytes)
        ends.append(bytes.count)
    }

    /// Shortens the key that is being written to its first bytes.
    static func cut(_ bytes: inout [UInt8], to count: Int) { bytes.removeLast(bytes.count - count) }

    /// Calls `body` with each key; the bytes are valid during the call.
    package func forEach<Failure: Error>(_ body: (UnsafeRawBufferPointer) throws(Failure) -> Void) throws(Failure) {
        for place in ends.indices { try with(place, body) }
    }

    /// Compares two sets of keys.
    ///
    /// - Parameters:
    ///   - old: The keys before.
    ///   - removed: Gets each key that only `old` has.
    ///   - added: Gets each key that only this one has.
    /// - Throws: The errors of the closures.
    func difference<Failure: Error>(
        from old: TextKeys, removed: (UnsafeRawBufferPointer) throws(Failure) -> Void,
        added: (UnsafeRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        var (place, oldPlace) = (0, 0)
        while place < count || oldPlace < old.count {
            let order = place == count ? 1 : oldPlace == old.count ? -1 : order(place, old, oldPlace)
            if order > 0 { try old.with(oldPlace, removed) }
            if order < 0 { try with(place, added) }
            if order >= 0 { oldPlace += 1 }
            if order <= 0 { place += 1 }
        }
    }

    private func range(_ place: Int) -> Range<Int> { (place == 0 ? 0 : ends[place - 1])..<ends[place] }

    private func with<Failure: Error>(
        _ place: Int, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        let range = range(place)
        let result = bytes.withUnsafeBytes { bytes in
            Result { () throws(Failure) in try body(UnsafeRawBufferPointer(rebasing: bytes[range])) }
        }
        try result.get()
    }

    private func order(_ place: Int, _ other: TextKeys, _ otherPlace: Int) -> Int {
        let (range, otherRange) = (range(place), other.range(otherPlace))
        return bytes.withUnsafeBytes { bytes in
            other.bytes.withUnsafeBytes { others in
                KeyBytes.order(
                    UnsafeRawBufferPointer(rebasing: bytes[range]), UnsafeRawBufferPointer(rebasing: others[otherRange])
                )
            }
        }
    }
}
