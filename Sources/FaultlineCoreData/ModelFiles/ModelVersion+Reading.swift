internal import FaultlineModel
public import Foundation

extension ModelVersion {
    init(_ content: ModelContent, name: String, path: String) {
        var builder = SchemaBuilder(content)
        let schema = builder.schema()
        for configuration in content.configurations {
            schema.setEntities(
                configuration.entityNames.compactMap { schema.entitiesByName[$0] },
                forConfigurationName: configuration.name)
        }
        let findings = (content.findings + builder.findings).enumerated().sorted { left, right in
            (left.element.line ?? 0, left.offset) < (right.element.line ?? 0, right.offset)
        }.map(\.element)
        self.init(
            name: name, path: path, identifiers: content.identifiers, entities: content.entities,
            configurations: content.configurations, fetchRequests: content.fetchRequests, schema: schema,
            findings: findings)
    }

    /// Reads the XML of a model: the file `contents` of an `.xcdatamodel`.
    ///
    /// - Parameters:
    ///   - contents: The bytes of the file.
    ///   - name: The name of the version.
    ///   - path: The path for messages.
    /// - Throws: `ModelFileError`, with line and column.
    /// - Complexity: O(n) for n bytes.
    public init(xml contents: Data, name: String, path: String = "contents") throws(ModelFileError) {
        let root = try MarkupReader.root(of: contents, path: path)
        var reader = MarkupModelReader(path: path)
        self.init(try reader.content(of: root), name: name, path: path)
    }

    /// Reads a compiled model: a `.mom`, or the inflated content of the table `Z_MODELCACHE` of a store.
    ///
    /// - Parameters:
    ///   - contents: The bytes: a binary property list with a keyed archive.
    ///   - name: The name of the version.
    ///   - path: The path for messages.
    /// - Throws: `ModelFileError`, with the offset in bytes.
    /// - Complexity: O(n) for n bytes, and for n parts of objects.
    public init(compiled contents: Data, name: String, path: String = "model") throws(ModelFileError) {
        var reader = try ArchivedModelReader(contents, path: path)
        self.init(try reader.content(), name: name, path: path)
    }
}
