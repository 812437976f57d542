/// Reads the list of a relation field: groups between commas, alternatives between bars.
///
/// An alternative is `name[:architecture] [(operator version)]`, after chapter 7.1 of the Debian Policy Manual. Lists
/// of architectures and build profiles belong to source packages and are refused. `<` and `>` are the old spellings of
/// `<=` and `>=`.
struct RelationParser {
    /// One alternative, its texts still bytes of the stanza.
    struct Alternative {
        var group: Int32 = 0
        var position: Int32 = 0
        var name: UnsafeRawBufferPointer
        var architecture = UnsafeRawBufferPointer(start: nil, count: 0)
        var comparison = ImportedRelation.Comparison.any
        var version = UnsafeRawBufferPointer(start: nil, count: 0)
    }

    /// Hands every alternative of `list` to `found`, and those that cannot be read to `broken`.
    ///
    /// - Parameters:
    ///   - list: The value of the field; line breaks count as blanks.
    ///   - found: Takes one alternative.
    ///   - broken: Called with the bytes of an alternative that cannot be parsed.
    @inline(__always)
    static func parse(
        _ list: UnsafeRawBufferPointer,
        found: (Alternative) -> Void,
        broken: (UnsafeRawBufferPointer) -> Void
    ) {
        var group: Int32 = 0
        var position: Int32 = 0
        var start = 0
        var place = 0
        while place <= list.count {
            let byte = place < list.count ? list[place] : UInt8(ascii: ",")
            guard byte == UInt8(ascii: ",") || byte == UInt8(ascii: "|") else {
                place += 1
                continue
            }
            let text = list.part(start..<place).trimmed
            // A comma at the end of the list is allowed: nothing follows it.
            let isTrailing = text.count == 0 && place == list.count && position == 0
            if var alternative = alternative(text) {
                alternative.group = group
                alternative.position = position
                found(alternative)
            } else if !isTrailing {
                broken(text)
            }
            if byte == UInt8(ascii: ",") {
                group &+= 1
                position = 0
            } else {
                position &+= 1
            }
            place += 1
            start = place
        }
    }

    /// The alternative that `text`, without blanks at its ends, stands for.
    @inline(__always)
    static func alternative(_ text: UnsafeRawBufferPointer) -> Alternative? {
        var place = 0
        while place < text.count, isNameByte(text[place]) { place += 1 }
        guard place > 0 else { return nil }
        var result = Alternative(name: text.part(0..<place))

        if place < text.count, text[place] == UInt8(ascii: ":") {
            let start = place + 1
            place = start
            while place < text.count, isNameByte(text[place]) { place += 1 }
            guard place > start else { return nil }
            result.architecture = text.part(start..<place)
        }
        while place < text.count, text[place].isBlank { place += 1 }
        guard place < text.count else { return result }

        guard text[place] == UInt8(ascii: "("), text[text.count - 1] == UInt8(ascii: ")") else { return nil }
        return versioned(result, text.part((place + 1)..<(text.count - 1)).trimmed)
    }

    /// `result` with the operator and the version that `bound` holds.
    @inline(__always)
    private static func versioned(_ result: Alternative, _ bound: UnsafeRawBufferPointer) -> Alternative? {
        var place = 0
        while place < bound.count, bound[place] >= UInt8(ascii: "<"), bound[place] <= UInt8(ascii: ">") { place += 1 }
        let sign = bound.part(0..<place)
        let version = bound.part(place..<bound.count).trimmed
        guard let comparison = comparison(sign), version.count > 0, !version.contains(where: { $0.isBlank }) else {
            return nil
        }
        var result = result
        result.comparison = comparison
        result.version = version
        return result
    }

    @inline(__always)
    private static func comparison(_ sign: UnsafeRawBufferPointer) -> ImportedRelation.Comparison? {
        let less = UInt8(ascii: "<")
        let equal = UInt8(ascii: "=")
        let greater = UInt8(ascii: ">")
        switch sign.count {
        case 1:
            if sign[0] == equal { return .equal }
            return sign[0] == less ? .earlierOrEqual : .laterOrEqual
        case 2:
            switch (sign[0], sign[1]) {
            case (less, less): return .earlier
            case (less, equal): return .earlierOrEqual
            case (greater, equal): return .laterOrEqual
            case (greater, greater): return .later
            default: return nil
            }
        default: return nil
        }
    }

    /// Letters, digits and `+ - . _`; bytes beyond ASCII are allowed, because names of local packages have them.
    @inline(__always)
    static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"), 0x80...0xFF:
            true
        default: false
        }
    }
}
