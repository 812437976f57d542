internal import Foundation

/// Where a page of a fetch ended: the sort keys and the identity of its last object.
///
/// A value: it can be encoded, sent to whoever asks for pages, and used in another process or after the store was opened
/// again. It stays good whatever is inserted, changed and deleted meanwhile, its own object included: a page begins behind
/// it in the order, and not after a number of objects. Its bytes hold the values of sort keys, in clear.
///
/// A cursor that comes back from a client may be anything: decoding refuses a number that no store has, and a fetch
/// refuses a cursor that is not its own. One that lies behind all objects gives an empty page.
public struct FetchCursor: Codable, Hashable, Sendable {
    /// The last object of the page.
    public let identifier: PersistentIdentifier
    /// The properties of the sort, each with `+` for ascending and `-` for descending in front.
    public let order: [String]
    /// The key of each value, as indexes have it.
    let keys: [Data]

    init(identifier: PersistentIdentifier, order: [String], keys: [[UInt8]]) {
        self.identifier = identifier
        self.order = order
        self.keys = keys.map { Data($0) }
    }
}

/// Some objects of a fetch, one behind the other in its order.
public struct FetchPage<Element> {
    /// The objects.
    public let objects: [Element]
    /// Where the next page begins; that of the page before where this one is empty, nil where there is none.
    public let cursor: FetchCursor?
    /// Whether there was nothing behind the page when it was fetched.
    public let isLast: Bool
}

// Unavailable as for the context, whose objects it has.
@available(*, unavailable, message: "The objects of a page belong to their context. Pass the cursor, or value copies.")
extension FetchPage: Sendable {}
