public import FaultlineModel
public import FaultlineObjects
public import Foundation

/// The place of a container's store, and its options.
public struct ModelConfiguration: Identifiable, Hashable, CustomDebugStringConvertible, Sendable {
    /// The group container of an app; without effect here.
    public struct GroupContainer: Hashable, Sendable {
        private let name: String?

        /// The default group of the app.
        public static let automatic = GroupContainer(name: nil)
        /// No group.
        public static let none = GroupContainer(name: "")
        /// The group with the given name.
        public static func identifier(_ groupName: String) -> GroupContainer { GroupContainer(name: groupName) }
    }

    /// The CloudKit database of an app; without effect here.
    public struct CloudKitDatabase: Hashable, Sendable {
        private let name: String?

        /// The default database of the app.
        public static let automatic = CloudKitDatabase(name: nil)
        /// No database.
        public static let none = CloudKitDatabase(name: "")
        /// The private database with the given name.
        public static func `private`(_ privateDBName: String) -> CloudKitDatabase {
            CloudKitDatabase(name: privateDBName)
        }
    }

    /// The configuration's name: "default" or the last part of the URL, without its extension, if none was given.
    ///
    /// A container refuses one that is empty, longer than 200 bytes, or holds a slash or a zero byte.
    public let name: String
    /// The directory of the store.
    public let url: URL
    /// The schema that the configuration was made with, or nil; a container opens the store with the schema it is given
    /// itself, which must contain the entities of this one.
    public var schema: Schema?
    /// Whether saves are allowed; if not, nothing is written at all, and other processes may write.
    public let allowsSave: Bool
    /// Whether the store is kept only in memory, and ends with its container.
    public let isStoredInMemoryOnly: Bool
    /// The group container; without effect here.
    public let groupContainer: GroupContainer
    /// The CloudKit database; without effect here.
    public let cloudKitDatabase: CloudKitDatabase
    /// Always nil here.
    public var groupAppContainerIdentifier: String? { nil }
    /// Always nil here.
    public var cloudKitContainerIdentifier: String? { nil }
    /// Options that SwiftData does not have: memory, durability, thresholds.
    public var options = StoreOptions()

    /// The store's URL; `/dev/null` for each store in memory.
    public var id: URL { url }

    /// A store with the default name in the user's data folder, or one in memory.
    public init(isStoredInMemoryOnly: Bool = false) {
        self.init(nil, schema: nil, isStoredInMemoryOnly: isStoredInMemoryOnly)
    }

    /// The same for some model classes.
    public init(for forTypes: any PersistentModel.Type..., isStoredInMemoryOnly: Bool = false) {
        self.init(nil, schema: Schema(forTypes), isStoredInMemoryOnly: isStoredInMemoryOnly)
    }

    /// A store with a name in the user's data folder (`XDG_DATA_HOME`, or `.local/share` in the home folder), or one in
    /// memory.
    public init(
        _ name: String? = nil, schema: Schema? = nil, isStoredInMemoryOnly: Bool = false, allowsSave: Bool = true,
        groupContainer: GroupContainer = .automatic, cloudKitDatabase: CloudKitDatabase = .automatic
    ) {
        let name = name ?? "default"
        self.name = name
        self.schema = schema
        self.allowsSave = allowsSave
        self.isStoredInMemoryOnly = isStoredInMemoryOnly
        self.groupContainer = groupContainer
        self.cloudKitDatabase = cloudKitDatabase
        url =
            isStoredInMemoryOnly
            ? URL(filePath: "/dev/null") : Self.dataFolder.appending(path: "\(name).store", directoryHint: .isDirectory)
    }

    /// A store at a given URL.
    ///
    /// The URL names a directory, with any extension; it is made if it is missing.
    public init(
        _ name: String? = nil, schema: Schema? = nil, url: URL, allowsSave: Bool = true,
        cloudKitDatabase: CloudKitDatabase = .automatic
    ) {
        self.name = name ?? url.deletingPathExtension().lastPathComponent
        self.schema = schema
        self.url = url
        self.allowsSave = allowsSave
        isStoredInMemoryOnly = false
        groupContainer = .none
        self.cloudKitDatabase = cloudKitDatabase
    }

    private static var dataFolder: URL {
        let environment = ProcessInfo.processInfo.environment
        if let folder = environment["XDG_DATA_HOME"], folder.hasPrefix("/") { return URL(filePath: folder) }
        return URL(filePath: NSHomeDirectory()).appending(path: ".local/share", directoryHint: .isDirectory)
    }

    /// - Throws: `SwiftDataError` if the name cannot be that of a file.
    public func validate() throws {
        if name.utf8.count > 200 {
            throw SwiftDataError.configurationFileNameTooLong.explained("\(name.utf8.count) bytes; at most 200.")
        }
        if name.isEmpty || name.contains("/") || name.contains("\0") {
            throw SwiftDataError.configurationFileNameContainsInvalidCharacters.explained("\"\(name)\"")
        }
    }

    /// Name and place of the store, and whether it is read only.
    public var debugDescription: String {
        "\(name): \(isStoredInMemoryOnly ? "in memory" : url.path)\(allowsSave ? "" : ", read only")"
    }
}
