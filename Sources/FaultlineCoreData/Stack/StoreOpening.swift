internal import Faultline
internal import FaultlineModel
internal import Foundation

/// The arguments of a store that is to be added, checked before anything is opened.
struct StoreOpening {
    let configuration: ModelConfiguration
    /// The names of its entities; nil for all that no other store has.
    let entityNames: Set<String>?
    private let options: PersistentStoreOptions

    var isReadOnly: Bool { options.isReadOnly }
    var isInMemory: Bool { configuration.isStoredInMemoryOnly }

    /// The name that Core Data gives to the configuration of all entities.
    static let defaultName = "PF_DEFAULT_CONFIGURATION_NAME"

    init(
        _ type: String, _ configurationName: String?, _ url: URL?, _ options: [AnyHashable: Any]?, _ model: Schema
    ) throws {
        self.options = try PersistentStoreOptions(options)
        let isNamed = configurationName != nil && configurationName != Self.defaultName
        let name = configurationName ?? Self.defaultName
        if isNamed {
            guard let names = model.entityNamesByConfiguration[name] else {
                let known = model.configurations.joined(separator: ", ")
                throw PersistentStoreError(
                    .unknownConfiguration,
                    "The model has no configuration \"\(name)\"; it has \(known.isEmpty ? "none" : known). Name one of them, or give it entities by setEntities(_:forConfigurationName:)."
                )
            }
            entityNames = Set(names)
        } else {
            entityNames = nil
        }
        var configuration: ModelConfiguration
        switch type {
        case NSInMemoryStoreType: configuration = ModelConfiguration(name, isStoredInMemoryOnly: true)
        case NSSQLiteStoreType:
            guard let url else {
                throw PersistentStoreError(.withoutURL, "A store in files needs a URL: that of its directory.")
            }
            try Self.checkIsNoDatabase(url)
            configuration = ModelConfiguration(name, url: url, allowsSave: !self.options.isReadOnly)
        default:
            throw PersistentStoreError(
                .unknownType,
                "There is no store of type \(type). Give NSSQLiteStoreType for files, or NSInMemoryStoreType.")
        }
        if !self.options.keepsHistory { configuration.options.history = .off }
        self.configuration = configuration
    }

    /// Opens the store under its part of the model.
    func open(_ part: Schema) throws -> ModelContainer {
        if let manager = options.manager { return try manager.openContainer(for: part, configuration: configuration) }
        if !isInMemory, !(options.migrates && options.infers) {
            let isDue = try ModelContainer.migrationIsDue(for: part, at: configuration)
            guard !isDue else {
                throw PersistentStoreError(
                    .migrationIsDue,
                    "The store at \(configuration.url.path) has an older model. Set NSMigratePersistentStoresAutomaticallyOption and NSInferMappingModelAutomaticallyOption to true, or give an NSStagedMigrationManager under NSPersistentStoreStagedMigrationManagerOptionKey."
                )
            }
        }
        return try ModelContainer(part, at: configuration)
    }

    /// Refuses a database of SQLite, which has to be imported.
    private static func checkIsNoDatabase(_ url: URL) throws {
        guard let file = try? FileHandle(forReadingFrom: url) else { return }
        defer { try? file.close() }
        guard let begin = try? file.read(upToCount: 16), begin.elementsEqual("SQLite format 3\0".utf8) else { return }
        let target = url.deletingPathExtension().appendingPathExtension("store").path
        throw PersistentStoreError(
            .isSQLite,
            "\(url.path) is a database of SQLite. Import it once, by `faultline import \(url.path) \(target) --model MODEL`, and open \(target)."
        )
    }
}
