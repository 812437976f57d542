import FaultlineCoreData
import FaultlineTestSupport

/// A store in a temporary folder, which is opened several times.
struct StorePlace {
    private let folder = TemporaryDirectory()

    private func configuration(
        _ mapping: NSMappingModel?, dropping: Bool, memoryCeiling: Int?
    ) -> ModelConfiguration {
        var configuration = ModelConfiguration(
            url: URL(filePath: folder.path).appending(path: "store", directoryHint: .isDirectory))
        configuration.options.migration.mapping = mapping
        if dropping { configuration.options.migration.unhandledData = .drop }
        if let memoryCeiling { configuration.options.migration.memoryCeiling = memoryCeiling }
        return configuration
    }

    /// Opens the store under a model, migrates it by a mapping, calls the closure, and closes the store; `dropping` says
    /// whether values that the model lacks are left behind.
    @discardableResult
    func use<R>(
        _ model: NSManagedObjectModel, mapping: NSMappingModel? = nil, plan: (any SchemaMigrationPlan.Type)? = nil,
        dropping: Bool = false, memoryCeiling: Int? = nil, _ body: (ModelContainer, NSManagedObjectContext) throws -> R
    ) throws -> R {
        let container = try ModelContainer(
            for: model, migrationPlan: plan,
            configurations: configuration(mapping, dropping: dropping, memoryCeiling: memoryCeiling))
        do {
            let result = try body(container, ModelContext(container))
            try container.close()
            return result
        } catch {
            try? container.close()
            throw error
        }
    }
}

extension NSManagedObjectContext {
    /// All objects of an entity.
    func all(_ entityName: String) throws -> [NSManagedObject] {
        try fetch(NSFetchRequest<NSManagedObject>(entityName: entityName))
    }

    /// Makes an object with some values.
    @discardableResult
    func make(_ entityName: String, _ values: [String: Any]) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entityName, into: self)
        object.setValuesForKeys(values)
        return object
    }
}
