/// Swift files with the `@Model` classes of a version.
///
///     for file in version.swiftSource().files { print(file.name, file.text) }
public struct ModelSource: Sendable {
    /// One file: a class, or the structure of a composite attribute.
    public struct File: Hashable, Sendable {
        /// The name of the file, such as `Book.swift`.
        public let name: String
        /// Its text.
        public let text: String
    }

    /// The files by name.
    public let files: [File]
    /// Everything in the model that the classes do not have, with the findings of the version.
    public let findings: [ModelFinding]
}

extension ModelVersion {
    /// Writes the version as `@Model` classes, one file an entity.
    ///
    /// The class of an entity inherits from that of the parent entity, and declares the entity's own properties,
    /// constraints and indexes. A class without subclasses is final. A composite attribute is a structure in a file of
    /// its own. Comments have the parts that a class cannot express.
    ///
    /// - Complexity: O(n log n) for n properties, with the inherited ones that each initializer takes.
    public func swiftSource() -> ModelSource {
        var writer = ModelClassWriter(self)
        let files = writer.files()
        return ModelSource(files: files, findings: findings + writer.findings)
    }
}
