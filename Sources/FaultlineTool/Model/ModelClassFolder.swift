import FaultlineCommands
import FaultlineCoreData
import Foundation

/// The files of classes that were written for a version.
struct WrittenClasses {
    let version: String
    let folder: String
    let files: [String]
    /// The findings of the version, and of its classes.
    let findings: [ModelFinding]
}

/// A folder for the classes of a model.
struct ModelClassFolder {
    private let path: String

    init(_ path: String) { self.path = path }

    /// Writes the files of a version.
    ///
    /// Nothing is written if one of them is there with another text.
    func write(_ source: ModelSource, of version: ModelVersion) throws(CommandFailure) -> WrittenClasses {
        let folder = URL(filePath: path)
        for file in source.files {
            let old = try? Data(contentsOf: folder.appending(path: file.name))
            guard old == nil || old == Data(file.text.utf8) else {
                throw CommandFailure(
                    CommandFailure.refused,
                    "\(path)/\(file.name) exists and is another file. Name an empty folder, or move the file away.")
            }
        }
        try CommandFailure.working {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            for file in source.files { try Data(file.text.utf8).write(to: folder.appending(path: file.name)) }
        }
        return WrittenClasses(
            version: version.name, folder: path, files: source.files.map(\.name), findings: source.findings)
    }
}
