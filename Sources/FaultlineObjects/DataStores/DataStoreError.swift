/// An error of a custom data store, with SwiftData's cases.
///
///     catch DataStoreError.unsupportedFeature { useTheDefaultStore() }
public enum DataStoreError: Error, Hashable, Sendable {
    /// The store lacks the requested feature.
    case unsupportedFeature
    /// The store cannot evaluate the predicate: the context is to filter the objects.
    case preferInMemoryFilter
    /// The store cannot sort so: the context is to sort the objects.
    case preferInMemorySort
    /// The predicate cannot be evaluated at all.
    case invalidPredicate
}
