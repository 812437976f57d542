#if Import
import FaultlineCommands
import FaultlineImport
import FoundationEssentials

/// The model of an import, as the command was given it.
struct ImportModel {
    let schema: Schema

    /// Reads a model.
    ///
    /// - Parameter path: A JSON file as `faultline schema --json` prints it.
    /// - Throws: A failure of status 2.
    init(path: String?) throws(CommandFailure) {
        guard let path else {
            throw CommandFailure(
                CommandFailure.wrongUsage, "Give the model that the store was written with: --model FILE.")
        }
        do {
            schema = try JSONDecoder().decode(Schema.self, from: Data(contentsOf: URL(filePath: path)))
            try schema.validate()
        } catch {
            throw CommandFailure(
                CommandFailure.wrongUsage, "\(path) is no schema as `faultline schema --json` prints it. \(error)")
        }
    }
}
#endif
