public import Foundation

// Safe because predicates are values that Foundation intends to be sent.
/// A deletion of all objects that satisfy a predicate, which a context asks of a data store.
public struct DataStoreBatchDeleteRequest<T: PersistentModel>: @unchecked Sendable {
    /// The editing state of the context.
    public let editingState: EditingState
    /// Selects the objects; nil for all.
    public let predicate: Predicate<T>?
    /// Whether objects of subclasses are deleted too.
    public let includeSubclasses: Bool

    /// Makes a request, for a data store that asks another one.
    public init(predicate: Predicate<T>?, includeSubclasses: Bool, editingState: EditingState) {
        self.predicate = predicate
        self.includeSubclasses = includeSubclasses
        self.editingState = editingState
    }
}
