/// The header `Range` of a request for one part of a value: RFC 9110, section 14.
enum ByteRange {
    /// A part of a value.
    enum Answer: Equatable {
        /// The whole value: there is no header, or one that need not be followed.
        case whole
        case part(Range<UInt64>)
        /// The part lies behind the end.
        case unsatisfiable
    }

    /// Decodes the header for a value with a number of bytes.
    static func decode(_ header: String?, byteCount: UInt64) -> Answer {
        guard let header, header.hasPrefix("bytes="), !header.contains(",") else { return .whole }
        let sides = header.dropFirst("bytes=".count).split(
            separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard sides.count == 2 else { return .whole }
        if sides[0].isEmpty {
            guard let count = UInt64(sides[1]) else { return .whole }
            guard count > 0, byteCount > 0 else { return .unsatisfiable }
            return .part(byteCount - min(count, byteCount)..<byteCount)
        }
        guard let first = UInt64(sides[0]) else { return .whole }
        guard first < byteCount else { return .unsatisfiable }
        guard !sides[1].isEmpty else { return .part(first..<byteCount) }
        guard let last = UInt64(sides[1]), last >= first else { return .whole }
        return .part(first..<min(last, byteCount - 1) + 1)
    }
}
