/// An object that a search has found.
public struct SearchHit<T: PersistentModel> {
    /// The object.
    public let object: T
    /// Its rank by BM25: the higher, the better.
    public let score: Double
    /// The places of the words of the query, if they were asked for.
    public let highlights: [SearchHighlight]
}

/// The places of a query's words in a text.
public struct SearchHighlight: Hashable, Sendable {
    /// The name of the property.
    public let property: String
    /// Offsets in the text's UTF-8, ascending; one that is not within a text is left out of its parts.
    public let ranges: [Range<Int>]

    /// Names places in a text.
    public init(property: String, ranges: [Range<Int>]) {
        self.property = property
        self.ranges = ranges
    }

    /// Cuts a part out of the text, around as many of the words as it can hold.
    ///
    /// - Parameters:
    ///   - text: The text of the property.
    ///   - count: The greatest number of characters.
    /// - Returns: The part, and the places of the words in it.
    /// - Complexity: O(n) for n bytes.
    public func snippet(of text: String, count: Int) -> (text: String, ranges: [Range<String.Index>]) {
        var places: [Range<String.Index>] = []
        for range in ranges where range.lowerBound >= 0 && range.upperBound <= text.utf8.count {
            let start = text.utf8.index(text.startIndex, offsetBy: range.lowerBound)
            let end = text.utf8.index(start, offsetBy: range.count)
            places.append(start..<end)
        }
        let best = places.first?.lowerBound ?? text.startIndex
        let before = text[..<best].count
        let start = text.index(text.startIndex, offsetBy: max(0, before - max(0, count) / 4))
        let end = text.index(start, offsetBy: max(0, count), limitedBy: text.endIndex) ?? text.endIndex
        let part = String(text[start..<end])
        let within = places.filter { $0.lowerBound >= start && $0.upperBound <= end }.map { place in
            let first = text.utf8.distance(from: start, to: place.lowerBound)
            let last = text.utf8.distance(from: start, to: place.upperBound)
            return part.utf8.index(part.startIndex, offsetBy: first)..<part.utf8.index(part.startIndex, offsetBy: last)
        }
        return (part, within)
    }
}

/// How many objects that a search has found have one value of an attribute.
public struct SearchFacet {
    /// The value; nil for objects that have none.
    public let value: AnyHashable?
    /// The number of objects.
    public let count: Int
}

/// The end of a page of a search, for searches of the same class.
///
/// Encoded, it is of use if the page's last object is stored.
/// Objects are ranked anew for each page. If texts were saved between two pages, an object may be on both, or on none.
public struct SearchCursor: Codable, Hashable, Sendable {
    /// The rank of the page's last object, as bits.
    let score: UInt64
    /// The page's last object.
    let identifier: PersistentIdentifier
}

/// The objects that a search has found.
public struct SearchResults<T: PersistentModel> {
    /// The objects in the order of the search, as far as its limit.
    public let hits: [SearchHit<T>]
    /// The number of all objects found, without limit, offset and cursor.
    public let count: Int
    /// For each attribute that was asked for: its values, those of most objects first.
    public let facets: [[SearchFacet]]
    /// The end of the page; nil if no object follows, or the order is not the rank.
    public let cursor: SearchCursor?
}

/// How a search was answered.
public struct SearchExplanation: Sendable, CustomStringConvertible {
    /// The entity that was searched.
    public let entityName: String
    /// The properties of the text index.
    public let properties: [String]
    /// Whether the index was there; if not, all rows were read.
    public let isIndexed: Bool
    /// How many objects were found.
    public let foundCount: Int
    /// Rows that were read for their texts or for a predicate.
    public let rowsRead: Int

    /// The explanation in one line.
    public var description: String {
        let names = properties.joined(separator: ", ")
        let place = isIndexed ? "the text index of \(entityName).(\(names))" : "every row of \(entityName)"
        return "\(place); \(foundCount) found, \(rowsRead) rows read"
    }
}

/// The error of a search that names no text index, or a cursor of another search.
public struct SearchError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of the error.
    public enum Code: String, Sendable, CaseIterable {
        /// The class has no text index with these properties.
        case noTextIndex
        /// The cursor belongs to another search, or the search has an order of its own.
        case invalidCursor
    }

    /// The kind of the error, for programs.
    public let code: Code
    /// The problem and the remedy, in full sentences.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The code and the message.
    public var description: String { "\(code.rawValue): \(message)" }
}
