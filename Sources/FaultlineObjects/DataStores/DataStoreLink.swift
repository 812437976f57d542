internal import Foundation

/// The link between a context and the data store behind its container.
///
/// A protocol, so that the state of a context names none of the work that uses it.
protocol DataStoreLink: AnyObject {
    /// Fetches objects.
    func fetch<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [T]

    /// Counts objects; nil where the context must count them itself, once they are loaded.
    func count<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> Int?

    /// The identifiers of objects; nil where the context must find them itself, once they are loaded.
    func identifiers<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws -> [PersistentIdentifier]?

    /// Loads the objects that a descriptor selects before the context searches them, and moves it to their state.
    func load<T: PersistentModel>(_ descriptor: FetchDescriptor<T>) throws

    /// Loads an object by its identifier, if the data store has it, and moves the context to its state.
    func load(_ identifier: PersistentIdentifier, ofEntity ordinal: Int) throws

    /// Deletes the objects that satisfy a predicate, by the data store's own call.
    func batchDelete<T: PersistentModel>(_ type: T.Type, _ predicate: Predicate<T>?) throws -> BatchResult

    /// Saves the unsaved changes into the data store, and then into the local copy by `commit`.
    func save<R: ~Copyable>(_ commit: () throws -> R) throws -> R

    /// Takes values over that the data store has changed in the last save.
    func finishSave() throws
}
