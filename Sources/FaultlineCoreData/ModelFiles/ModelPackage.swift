public import FaultlineModel
public import Foundation

/// A model of Core Data with all its versions.
///
///     let package = try ModelPackage(contentsOf: URL(filePath: "Library.xcdatamodeld"))
///     let changes = package.current.schema.difference(from: package.versions[0].schema)
///
/// It reads `.xcdatamodeld` and `.xcdatamodel`, which Xcode edits, and `.momd` and `.mom`, which it compiles for apps.
public struct ModelPackage: Sendable {
    /// The place that it was read from.
    public let url: URL
    /// The versions by name, the numbers in names by their value: `Model`, `Model 2`, `Model 10`.
    public let versions: [ModelVersion]
    /// The position of the current version in `versions`.
    public let currentIndex: Int
    /// The findings about the package itself; each version has its own.
    public let packageFindings: [ModelFinding]

    /// The version that an app opens its stores with.
    public var current: ModelVersion { versions[currentIndex] }

    /// The findings about the package and all its versions.
    ///
    /// - Complexity: O(n) for n findings.
    public var findings: [ModelFinding] { packageFindings + versions.flatMap(\.findings) }

    /// Reads a package, or a single version.
    ///
    /// - Parameter url: An `.xcdatamodeld`, `.xcdatamodel`, `.momd` or `.mom`, or the file `contents` of an
    ///   `.xcdatamodel`.
    /// - Throws: `ModelFileError`, with the file and the place in it.
    /// - Complexity: O(n) for n bytes of all versions.
    public init(contentsOf url: URL) throws(ModelFileError) {
        let folder = try ModelFolder(url)
        var versions: [ModelVersion] = []
        for file in folder.files { versions.append(try file.version()) }
        self.url = url
        self.versions = versions
        var findings: [ModelFinding] = []
        if versions.count > 1, !versions.contains(where: { $0.name == folder.currentName }) {
            let problem = folder.currentName.map { "\($0) is not in the package" } ?? "The package does not name it"
            let last = versions[versions.count - 1].name
            findings.append(ModelFinding(.invalid, "current version", at: "", "\(problem); \(last) counts."))
        }
        currentIndex = versions.firstIndex { $0.name == folder.currentName } ?? versions.count - 1
        packageFindings = findings
    }

    /// The version with a name; nil if there is none.
    ///
    /// - Complexity: O(n) for n versions.
    public func version(named name: String) -> ModelVersion? { versions.first { $0.name == name } }
}

extension Schema {
    /// Reads the model of an app of Core Data: the current version of a package, or a single version.
    ///
    ///     let model = try NSManagedObjectModel(contentsOf: URL(filePath: "Library.momd"))
    ///
    /// A schema has no place for some parts of a model, such as regular expressions: `ModelPackage` lists them. The
    /// model's configurations are those of the schema.
    ///
    /// - Parameter url: An `.xcdatamodeld`, `.xcdatamodel`, `.momd` or `.mom`.
    /// - Throws: `ModelFileError`, with the file and the place in it.
    /// - Complexity: O(n) for n bytes of all versions.
    public convenience init(contentsOf url: URL) throws(ModelFileError) {
        let schema = try ModelPackage(contentsOf: url).current.schema
        self.init(written: schema.version, encodingVersion: schema.encodingVersion, entities: schema.entities)
        entityNamesByConfiguration = schema.entityNamesByConfiguration
    }
}
