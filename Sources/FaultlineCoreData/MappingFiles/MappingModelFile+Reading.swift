public import Foundation

extension MappingModelFile {
    /// The file in the folder of an `.xcmappingmodel`.
    private static let markupName = "xcmapping.xml"

    /// Reads a mapping model.
    ///
    /// - Parameter url: An `.xcmappingmodel`, its file `xcmapping.xml`, or a `.cdm`.
    /// - Throws: `ModelFileError`, with the file and the place in it.
    /// - Complexity: O(n) for n bytes, and for n parts of objects in archives.
    public init(contentsOf url: URL) throws(ModelFileError) {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) else {
            throw ModelFileError(.missing, url.path, "There is no such file. Give an .xcmappingmodel or a .cdm.")
        }
        let name = url.deletingPathExtension().lastPathComponent
        switch (url.pathExtension, isFolder.boolValue) {
        case ("xcmappingmodel", true):
            let file = url.appendingPathComponent(Self.markupName)
            guard FileManager.default.fileExists(atPath: file.path) else {
                throw ModelFileError(
                    .missing, file.path, "The mapping model has no file \(Self.markupName). Copy it again.")
            }
            self = try MappingModelFile(xml: ModelFolder.bytes(of: file), name: name, path: file.path)
        case ("cdm", false):
            self = try MappingModelFile(compiled: ModelFolder.bytes(of: url), name: name, path: url.path)
        case (_, false) where url.lastPathComponent == Self.markupName:
            let parent = url.deletingLastPathComponent().deletingPathExtension().lastPathComponent
            self = try MappingModelFile(xml: ModelFolder.bytes(of: url), name: parent, path: url.path)
        default:
            throw ModelFileError(
                .foreign, url.path, "It is no mapping model. Give an .xcmappingmodel, or a .cdm of an app.")
        }
    }

    /// Reads the XML of a mapping model: the file `xcmapping.xml` of an `.xcmappingmodel`.
    ///
    /// - Parameters:
    ///   - contents: The bytes of the file.
    ///   - name: The name of the mapping model.
    ///   - path: The path for messages.
    /// - Throws: `ModelFileError`, with line and column.
    /// - Complexity: O(n) for n bytes, and for n parts of objects in archives.
    public init(xml contents: Data, name: String, path: String = "xcmapping.xml") throws(ModelFileError) {
        let root = try MarkupReader.root(of: contents, path: path)
        var reader = MarkupMappingReader(path: path)
        self.init(try reader.content(of: root), name: name, path: path)
    }

    /// Reads a compiled mapping model: a `.cdm`.
    ///
    /// - Parameters:
    ///   - contents: The bytes: a binary property list with a keyed archive.
    ///   - name: The name of the mapping model.
    ///   - path: The path for messages.
    /// - Throws: `ModelFileError`, with the offset in bytes.
    /// - Complexity: O(n) for n bytes, and for n parts of objects.
    public init(compiled contents: Data, name: String, path: String = "mapping model") throws(ModelFileError) {
        var reader = try ArchivedMappingReader(contents, path: path)
        self.init(try reader.content(), name: name, path: path)
    }

    private init(_ content: MappingContent, name: String, path: String) {
        self.init(
            name: name, path: path, sourceModelPath: content.sourceModelPath,
            destinationModelPath: content.destinationModelPath, mappings: content.mappings,
            findings: content.findings + content.mappings.flatMap(\.contradictions))
    }
}

extension MappingModelFile.Mapping {
    /// The parts that contradict each other.
    fileprivate var contradictions: [ModelFinding] {
        let isPossible =
            switch kind {
            case .undefined, .custom: sourceEntityName != nil || destinationEntityName != nil
            case .add: sourceEntityName == nil && destinationEntityName != nil
            case .remove: sourceEntityName != nil && destinationEntityName == nil
            case .copy, .transform: sourceEntityName != nil && destinationEntityName != nil
            }
        guard isPossible else { return [otherKind] + repeated }
        return repeated
    }

    private var otherKind: ModelFinding {
        let ends = [sourceEntityName, destinationEntityName].map { $0 ?? "no entity" }
        return ModelFinding(
            .invalid, "\(kind)", at: name, line: line,
            "The mapping leads from \(ends[0]) to \(ends[1]), which is another kind; the entities count.")
    }

    /// The properties that are listed again.
    private var repeated: [ModelFinding] {
        var seen: Set<String> = []
        return properties.filter { !seen.insert($0.name).inserted }.map { property in
            ModelFinding(
                .invalid, property.name, at: name, line: property.line,
                "The mapping lists the property twice.")
        }
    }
}
