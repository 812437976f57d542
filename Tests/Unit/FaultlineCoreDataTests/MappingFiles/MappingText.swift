import FaultlineCoreData

/// Writes mapping models in the XML of Xcode.
struct MappingText {
    private var objects = ""
    private var number = 101

    private mutating func identifier() -> String {
        number += 1
        return "z\(number)"
    }

    private static func attribute(_ name: String, _ type: String, _ value: String?) -> String {
        value.map { "        <attribute name=\"\(name)\" type=\"\(type)\">\($0)</attribute>\n" } ?? ""
    }

    private static func relationship(_ name: String, to destination: String, _ identifiers: [String]) -> String {
        "        <relationship name=\"\(name)\" type=\"0/0\" destination=\"\(destination)\" idrefs=\"\(identifiers.joined(separator: " "))\"></relationship>\n"
    }

    /// The archive of an expression in base 64.
    static func archive(_ expression: MappingExpression) -> String {
        var writer = ArchiveWriter()
        let root = writer.expression(expression)
        return writer.archive(root).base64EncodedString()
    }

    private static func archive(_ userInfo: [String: String]) -> String {
        var writer = ArchiveWriter()
        let pairs = userInfo.sorted { $0.key < $1.key }.map { ($0.key, writer.text($0.value)) }
        let root = writer.dictionary(pairs)
        return writer.archive(root).base64EncodedString()
    }

    private mutating func add(_ property: WrittenMapping.Property, _ mapping: String) -> String {
        let identifier = identifier()
        let type = property.isRelationship ? "XDDEVRELATIONSHIPMAPPING" : "XDDEVATTRIBUTEMAPPING"
        objects += "    <object type=\"\(type)\" id=\"\(identifier)\">\n"
        objects += Self.attribute("valueexpressiondata", "binary", property.expression.map(Self.archive))
        objects += Self.attribute("sourcemappingname", "string", property.mapping)
        objects += Self.attribute("sourcekeypath", "string", property.path)
        if property.isRelationship { objects += Self.attribute("autogenerateexpression", "bool", "1") }
        objects += Self.attribute("name", "string", property.name) + property.inside
        objects += Self.relationship("entitymapping", to: "XDDEVENTITYMAPPING", [mapping]) + "    </object>\n"
        return identifier
    }

    private mutating func add(_ mapping: WrittenMapping, _ number: Int, _ model: String) -> String {
        let identifier = identifier()
        let attributes = mapping.properties.filter { !$0.isRelationship }.map { add($0, identifier) }
        let relationships = mapping.properties.filter(\.isRelationship).map { add($0, identifier) }
        let escaped = mapping.condition?.replacing("&", with: "&amp;").replacing("<", with: "\\u3c00")
        objects += "    <object type=\"XDDEVENTITYMAPPING\" id=\"\(identifier)\">\n"
        objects += Self.attribute(
            "userinfodata", "binary", mapping.userInfo.isEmpty ? nil : Self.archive(mapping.userInfo))
        objects += Self.attribute("name", "string", mapping.name)
        objects += Self.attribute("migrationpolicyclassname", "string", mapping.policy)
        objects += Self.attribute("sourcefilterpredicatestring", "string", escaped)
        objects += Self.attribute("sourcename", "string", mapping.from)
        objects += Self.attribute("mappingtypename", "string", "Undefined")
        objects += Self.attribute("mappingnumber", "int16", "\(number)")
        objects += Self.attribute("destinationname", "string", mapping.to)
        objects += Self.attribute("autogenerateexpression", "bool", "1") + mapping.inside
        objects += Self.relationship("mappingmodel", to: "XDDEVMAPPINGMODEL", [model])
        objects += Self.relationship("attributemappings", to: "XDDEVATTRIBUTEMAPPING", attributes)
        objects += Self.relationship("relationshipmappings", to: "XDDEVRELATIONSHIPMAPPING", relationships)
        objects += "    </object>\n"
        return identifier
    }

    /// The file `xcmapping.xml` of a mapping model; the objects of the last mapping stand first.
    static func model(
        _ mappings: [WrittenMapping], from: String = "Company", to: String = "Company 2", inside: String = ""
    ) -> Data {
        var text = MappingText()
        let model = text.identifier()
        var identifiers: [String] = []
        for (number, mapping) in mappings.enumerated().reversed() {
            identifiers.append(text.add(mapping, number + 1, model))
        }
        text.objects += "    <object type=\"XDDEVMAPPINGMODEL\" id=\"\(model)\">\n"
        text.objects += attribute("sourcemodelpath", "string", "App/Company.xcdatamodeld/\(from).xcdatamodel")
        text.objects += attribute("sourcemodeldata", "binary", "YnBsaXN0MDA=")
        text.objects += attribute("destinationmodelpath", "string", "App/Company.xcdatamodeld/\(to).xcdatamodel")
        text.objects += inside
        text.objects += relationship("entitymappings", to: "XDDEVENTITYMAPPING", identifiers) + "    </object>\n"
        return file(text.objects)
    }

    /// The file with objects.
    static func file(_ objects: String, version: Int = 134_481_920) -> Data {
        Data(
            """
            <?xml version="1.0" standalone="yes"?>
            <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">

            <database>
                <databaseInfo>
                    <version>\(version)</version>
                    <UUID>E7248607-A19C-432D-BA56-9629746E4B54</UUID>
                    <nextObjectID>900</nextObjectID>
                    <metadata>
                        <plist version="1.0"><dict><key>NSPersistenceFrameworkVersion</key><integer>481</integer></dict></plist>
                    </metadata>
                </databaseInfo>
            \(objects)</database>
            """.utf8)
    }

    /// Writes an `.xcmappingmodel`.
    static func write(_ contents: Data, to url: URL) throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        try contents.write(to: url.appendingPathComponent("xcmapping.xml"))
    }
}
