import Hummingbird

/// A page of a list.
package struct PageBody<Item: Codable & Sendable>: ResponseCodable, Sendable {
    package var items: [Item]
    /// The value of `after` for the next page; nil at the end.
    package var next: String?

    package init(items: [Item], next: String?) {
        self.items = items
        self.next = next
    }
}
