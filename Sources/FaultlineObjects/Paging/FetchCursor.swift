internal import Foundation

/// The end of a page of a fetch: the sort keys and the identity of its last object.
///
/// A value: it can be encoded, sent to a client, and used in another process or after the store was opened again. It
/// stays valid through all inserts, changes and deletions, including those of its own object: a page begins after it in
/// the order, and not after a number of objects. Its bytes contain the values of sort keys, unencrypted.
///
/// A cursor from a client is untrusted: decoding refuses a number that no store has, and a fetch refuses a cursor of
/// another fetch. A cursor after all objects gives an empty page.
public struct FetchCursor: Codable, Hashable, Sendable {
    /// The last object of the page.
    public let identifier: PersistentIdentifier
    /// The properties of the sort, each with `+` for ascending and `-` for descending in front.
    public let order: [String]
    /// The key of each value, as in indexes.
    let keys: [Data]

    init(identifier: PersistentIdentifier, order: [String], keys: [[UInt8]]) {
        self.identifier = identifier
        self.order = order
        self.keys = keys.map { Data($0) }
    }
}

/// A page of a fetch: consecutive objects in its order.
public struct FetchPage<Element> {
    /// The objects.
    public let objects: [Element]
    /// The position of the next page; for an empty page, that of the page before, or nil if there is none.
    public let cursor: FetchCursor?
    /// Whether there was nothing after the page when it was fetched.
    public let isLast: Bool
}

// Unavailable as for the context, whose objects it has.
@available(*, unavailable, message: "The objects of a page belong to their context. Pass the cursor, or value copies.")
extension FetchPage: Sendable {}
