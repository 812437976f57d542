/// An object of the editor in an `xcmapping.xml`: its attributes as text, and the objects that it refers to.
struct MarkupMappingObject {
    /// The classes of objects.
    enum Kind: String {
        case model = "XDDEVMAPPINGMODEL"
        case mapping = "XDDEVENTITYMAPPING"
        case attribute = "XDDEVATTRIBUTEMAPPING"
        case relationship = "XDDEVRELATIONSHIPMAPPING"

        /// The attributes that are known.
        var attributes: Set<String> {
            let property: Set = ["name", "autogenerateexpression", "valueexpressiondata", "userinfodata"]
            return switch self {
            // The copies of both models are in the form of the editor.
            case .model: ["sourcemodelpath", "destinationmodelpath", "sourcemodeldata", "destinationmodeldata"]
            case .mapping:
                [
                    "name", "mappingtypename", "mappingnumber", "sourcename", "destinationname",
                    "migrationpolicyclassname", "sourcefilterpredicatestring", "sourceexpressiondata",
                    "autogenerateexpression", "userinfodata",
                ]
            case .attribute: property
            case .relationship: property.union(["sourcekeypath", "sourcemappingname"])
            }
        }

        /// The relationships that are known.
        var relationships: Set<String> {
            switch self {
            case .model: ["entitymappings"]
            case .mapping: ["mappingmodel", "attributemappings", "relationshipmappings"]
            case .attribute, .relationship: ["entitymapping"]
            }
        }
    }

    let kind: Kind
    let identifier: String
    let line: Int
    private var texts: [String: String] = [:]
    private(set) var references: [String: [String]] = [:]
    /// The names that are not known, with their lines.
    private(set) var unknown: [(name: String, line: Int)] = []

    /// Nil for an object of an unknown class.
    init?(_ element: MarkupElement) {
        guard let kind = Kind(rawValue: (element.attributes["type"] ?? "").uppercased()) else { return nil }
        self.kind = kind
        identifier = element.attributes["id"] ?? ""
        line = element.line
        for child in element.children {
            let name = (child.attributes["name"] ?? "").lowercased()
            switch child.name {
            case "attribute" where kind.attributes.contains(name):
                texts[name] = child.attributes["type"] == "string" ? StoredText.decoded(child.text) : child.text
            case "relationship" where kind.relationships.contains(name):
                references[name] = (child.attributes["idrefs"] ?? "").split(separator: " ").map(String.init)
            default: unknown.append((name.isEmpty ? child.name : name, child.line))
            }
        }
    }

    /// The text of an attribute; nil if it is missing or empty.
    func text(_ name: String) -> String? { texts[name].flatMap { $0.isEmpty ? nil : $0 } }
}
