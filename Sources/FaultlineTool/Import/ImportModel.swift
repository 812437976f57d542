#if Import
import FaultlineCommands
import FaultlineCoreData
import FaultlineImport
import FoundationEssentials

/// The model of an import, as the command was given it.
enum ImportModel {
    /// The model in the store.
    case stored
    case package(ModelPackage)
    case schema(Schema)

    /// Reads a model.
    ///
    /// - Parameter path: A model package, or a JSON file as `faultline schema --json` prints it; nil for the model in the
    ///   store.
    /// - Throws: A failure of status 2.
    init(path: String?) throws(CommandFailure) {
        guard let path else {
            self = .stored
            return
        }
        let url = URL(filePath: path)
        guard url.pathExtension == "json" else {
            do throws(ModelFileError) { self = .package(try ModelPackage(contentsOf: url)) } catch {
                throw CommandFailure(CommandFailure.wrongUsage, "\(error)")
            }
            return
        }
        do {
            let schema = try JSONDecoder().decode(Schema.self, from: Data(contentsOf: url))
            try schema.validate()
            self = .schema(schema)
        } catch {
            throw CommandFailure(
                CommandFailure.wrongUsage, "\(path) is no schema as `faultline schema --json` prints it. \(error)")
        }
    }

    /// The import of a store by the model.
    func makeImport(from source: URL, to destination: URL) -> StoreImport {
        switch self {
        case .stored: StoreImport(from: source, to: destination)
        case .package(let package): StoreImport(from: source, to: destination, package: package)
        case .schema(let schema): StoreImport(from: source, to: destination, schema: schema)
        }
    }
}
#endif
