/// The stores of a container over several, as its contexts see them.
package protocol ContextSource: AnyObject, Sendable {
    /// Grows with each store that is added or removed.
    var changeCount: Int { get }

    /// The stores of now, with the count of changes that they stand for.
    func storesNow() -> (changeCount: Int, stores: [ContextParts.Store])
}
