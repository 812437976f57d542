/// Why a coordinator does not take a store.
///
///     do {
///         try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
///     } catch let error as PersistentStoreError where error.code == .isSQLite {
///         print(error.message)  // the command that imports the file
///     }
///
/// The errors of opening are those of `ModelContainer`; those of dividing entities over stores are
/// `SeveralStoresError`.
public struct PersistentStoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of error.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        /// The file is a database of SQLite: it has to be imported.
        case isSQLite
        /// There is no such type of stores.
        case unknownType
        /// A store that is not in memory needs a URL.
        case withoutURL
        /// The model has no configuration of this name.
        case unknownConfiguration
        /// An option is not known here, or has a value of another type.
        case unknownOption
        /// The store has an older model, and the options do not allow to migrate it.
        case migrationIsDue
        /// The store is none of this coordinator.
        case foreignStore
        /// The container has no model.
        case withoutModel
    }

    /// The kind of error, for programs.
    public let code: Code
    /// The cause and the remedy, in full sentences.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }
}
