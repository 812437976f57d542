import FaultlineCoreData
import FaultlineTestSupport

/// A store in a temporary folder, which is opened several times.
struct StorePlace {
    private let folder = TemporaryDirectory()

    private func configuration(
        _ mapping: NSMappingModel?, dropping: Bool, control: MigrationControl?
    ) -> ModelConfiguration {
        var configuration = ModelConfiguration(
            url: URL(filePath: folder.path).appending(path: "store", directoryHint: .isDirectory))
        configuration.options.migration.mapping = mapping
        if dropping { configuration.options.migration.unhandledData = .drop }
        if let control {
            configuration.options.migration.control = control
            configuration.options.migration.memoryCeiling = 1 << 20
        }
        return configuration
    }

    /// Opens the store under a model, migrates it by a mapping, calls the closure, and closes the store; `dropping` says
    /// whether values that the model lacks are left behind, and `control` cancels, with a low ceiling of memory.
    @discardableResult
    func use<R>(
        _ model: NSManagedObjectModel, mapping: NSMappingModel? = nil, plan: (any SchemaMigrationPlan.Type)? = nil,
        dropping: Bool = false, control: MigrationControl? = nil,
        _ body: (ModelContainer, NSManagedObjectContext) throws -> R
    ) throws -> R {
        let container = try ModelContainer(
            for: model, migrationPlan: plan,
            configurations: configuration(mapping, dropping: dropping, control: control))
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
