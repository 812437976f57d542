public import FaultlineModel
public import FaultlineObjects
public import Foundation

/// Where a container keeps its objects, and how.
public struct ModelConfiguration: Identifiable, Hashable, CustomDebugStringConvertible, Sendable {
    /// The group container of an app; without effect here.
    public struct GroupContainer: Hashable, Sendable {
        private let name: String?

        public static let automatic = GroupContainer(name: nil)
        public static let none = GroupContainer(name: "")
        public static func identifier(_ groupName: String) -> GroupContainer { GroupContainer(name: groupName) }
    }

    /// The CloudKit database of an app; without effect here.
    public struct CloudKitDatabase: Hashable, Sendable {
        private let name: String?

        public static let automatic = CloudKitDatabase(name: nil)
        public static let none = CloudKitDatabase(name: "")
        public static func `private`(_ privateDBName: String) -> CloudKitDatabase {
            CloudKitDatabase(name: privateDBName)
        }
    }

    public let name: String
    /// The directory of the store.
    public let url: URL
    public var schema: Schema?
    /// Whether saves are allowed.
    public let allowsSave: Bool
    public let isStoredInMemoryOnly: Bool
    public let groupContainer: GroupContainer
    public let cloudKitDatabase: CloudKitDatabase
    /// Always nil here.
    public var groupAppContainerIdentifier: String? { nil }
    /// Always nil here.
    public var cloudKitContainerIdentifier: String? { nil }
    /// What is ours: memory, durability, thresholds.
    public var options = StoreOptions()

    public var id: URL { url }

    /// A store of the default name in the user's data folder, or one that lives in memory.
    public init(isStoredInMemoryOnly: Bool = false) {
        self.init(nil, schema: nil, isStoredInMemoryOnly: isStoredInMemoryOnly)
    }

    /// The same for some model classes.
    public init(for forTypes: any PersistentModel.Type..., isStoredInMemoryOnly: Bool = false) {
        self.init(nil, schema: Schema(forTypes), isStoredInMemoryOnly: isStoredInMemoryOnly)
    }

    /// A store of a name in the user's data folder (`XDG_DATA_HOME`, or `.local/share` in the home folder), or one that lives in memory.
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

    /// A store at a place of its own. The URL names a directory, whatever its extension; it is made if it is not there.
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

    public var debugDescription: String {
        "\(name): \(isStoredInMemoryOnly ? "in memory" : url.path)\(allowsSave ? "" : ", read only")"
    }
}
