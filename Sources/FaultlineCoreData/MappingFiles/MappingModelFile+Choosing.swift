public import FaultlineModel
public import Foundation

extension MappingModelFile {
    /// Reads the mapping models in some places.
    ///
    ///     let files = try MappingModelFile.all(in: [URL(filePath: "App.app")])
    ///     let fitting = files.filter { $0.leads(from: old, to: new) }
    ///
    /// - Parameter places: Mapping models, and folders with mapping models directly inside.
    /// - Returns: One for each file, by their paths.
    /// - Throws: `ModelFileError` for the first file that cannot be read.
    /// - Complexity: O(n) for n bytes of all files.
    public static func all(in places: [URL]) throws(ModelFileError) -> [MappingModelFile] {
        var files: [MappingModelFile] = []
        for place in places {
            for url in try urls(in: place) { files.append(try MappingModelFile(contentsOf: url)) }
        }
        return files.sorted { $0.path < $1.path }
    }

    /// The extensions of mapping models: of those that Xcode edits, and of compiled ones.
    public static let extensions = ["xcmappingmodel", "cdm"]

    private static let countMax = 1_000

    private static func urls(in place: URL) throws(ModelFileError) -> [URL] {
        var isFolder: ObjCBool = false
        guard !extensions.contains(place.pathExtension),
            FileManager.default.fileExists(atPath: place.path, isDirectory: &isFolder), isFolder.boolValue
        else { return [place] }
        let all: [URL]
        do {
            all = try FileManager.default.contentsOfDirectory(at: place, includingPropertiesForKeys: nil)
        } catch {
            throw ModelFileError(.unreadable, place.path, "The folder cannot be read. \(error.localizedDescription)")
        }
        let found = all.filter { extensions.contains($0.pathExtension) }
        guard found.count <= countMax else {
            throw ModelFileError(
                .tooLarge, place.path, "The folder has \(found.count) mapping models; \(countMax) is the most.")
        }
        return found
    }

    /// Whether the file leads from one version of a model to another.
    ///
    /// The hashes of entities decide, if both the file and the versions have them: those of a `.cdm`, and of the versions
    /// in a `.momd`. Else the names of versions decide, if the file has them; else the names of entities and properties,
    /// as in `fits(from:to:)`.
    ///
    /// - Complexity: As `fits(from:to:)`.
    public func leads(from source: ModelVersion, to destination: ModelVersion) -> Bool {
        if let isEqual = hashesAgree(source, destination) { return isEqual }
        let names = [sourceModelPath, destinationModelPath].map { path in
            path.map { URL(filePath: $0).deletingPathExtension().lastPathComponent }
        }
        if let from = names[0], let to = names[1] { return from == source.name && to == destination.name }
        return fits(from: source.schema, to: destination.schema)
    }

    /// Whether all hashes of the file are those of the versions; nil if the old or the new ones cannot be compared.
    private func hashesAgree(_ source: ModelVersion, _ destination: ModelVersion) -> Bool? {
        let sides = mappings.flatMap { mapping in
            [
                (true, mapping.sourceEntityName, mapping.sourceEntityHash, source.entityHashes),
                (false, mapping.destinationEntityName, mapping.destinationEntityHash, destination.entityHashes),
            ]
        }
        var compared: Set<Bool> = []
        for case (let isSource, let name?, let hash?, let hashes) in sides where !hashes.isEmpty {
            guard hashes[name] == hash else { return false }
            compared.insert(isSource)
        }
        return compared.count == 2 ? true : nil
    }

    /// Whether the models have all entities that the file names, the old ones all properties that expressions and
    /// conditions read, and each new one exactly the properties that the mappings to it list.
    ///
    /// A file without mappings fits no models.
    ///
    /// - Complexity: O(n · p) for n parts of expressions, and p properties of an entity.
    public func fits(from source: Schema, to destination: Schema) -> Bool {
        !mappings.isEmpty
            && mappings.allSatisfy { mapping in
                if let name = mapping.sourceEntityName {
                    guard let entity = source.entitiesByName[name], mapping.reads(only: entity, in: source) else {
                        return false
                    }
                }
                guard let name = mapping.destinationEntityName else { return true }
                guard let entity = destination.entitiesByName[name] else { return false }
                return Set(entity.properties.map(\.name)) == Set(mapping.properties.map(\.name))
            }
    }
}

extension MappingModelFile.Mapping {
    /// Whether the old entity has all properties that expressions and the condition name.
    fileprivate func reads(only entity: Schema.Entity, in source: Schema) -> Bool {
        var check = ExpressionCheck(self, entity, in: source, PolicyFunctions())
        for case let expression? in properties.map(\.expression) { check.check(expression) }
        var filters = FilterLowering(entity, in: source)
        if let filter { _ = filters.filter(filter) }
        return !(check.problems + filters.problems).contains { $0.code == .unknownName }
    }
}
