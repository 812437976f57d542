internal import FaultlineModel
internal import Foundation

/// Turns the elements of a model's XML into a model.
///
/// Elements and attributes that it does not know become findings.
struct MarkupModelReader {
    let path: String
    var findings: [ModelFinding] = []
    /// The types of composite attributes, by name.
    var composites: [String: [ModelVersion.Attribute]] = [:]
    /// The number of parts of each such type, with those inside of parts.
    private var compositeSizes: [String: Int] = [:]

    init(path: String) { self.path = path }

    /// Attributes that say something about tools, not about the model.
    private static let toolAttributes: Set<String> = [
        "type", "documentVersion", "lastSavedToolsVersion", "systemVersion", "minimumToolsVersion", "sourceLanguage",
        "name", "macOSVersion", "iOSVersion", "watchOSVersion", "tvOSVersion", "visionOSVersion", "usedWithCloudKit",
        "usedWithSwiftData",
    ]
    /// The newest major version of the format.
    private static let versionMax = 1.0

    mutating func content(of root: MarkupElement) throws(ModelFileError) -> ModelContent {
        guard root.name == "model" else {
            throw ModelFileError(
                .foreign, path, line: root.line,
                "The outermost element is \(root.name), where a model has `model`. Give the file of a model.")
        }
        if let text = root.attributes["documentVersion"], let version = Double(text), version >= Self.versionMax + 1 {
            throw ModelFileError(
                .newer, path, line: root.line,
                "The file has version \(text) of the format; \(Self.versionMax) is the newest known one.")
        }
        var content = ModelContent()
        check(root, at: "", Self.toolAttributes.union(["userDefinedModelVersionIdentifier"]))
        content.identifiers = [root.attributes["userDefinedModelVersionIdentifier"] ?? ""].filter { !$0.isEmpty }
        readComposites(root)
        for element in root.children {
            switch element.name {
            case "entity": content.entities.append(entity(element))
            case "configuration": content.configurations.append(configuration(element))
            case "fetchRequest": content.fetchRequests.append(fetchRequest(element, at: ""))
            // The positions of the editor, and the types that were read before.
            case "elements", "composite", "compositeAttribute": break
            default: unknownElement(element, at: "")
            }
        }
        content.findings = findings
        return content
    }

    /// Reads the types of composite attributes, which may have parts of other such types.
    private mutating func readComposites(_ root: MarkupElement) {
        let all = root.children.filter { $0.name == "composite" || $0.name == "compositeAttribute" }
        // A type may precede the types of its parts: each round resolves one level.
        let noted = findings
        for _ in 0..<min(all.count, Self.compositeDepthMax) {
            findings = noted
            var sizes: [String: Int] = [:]
            for element in all {
                let name = element.attributes["name"] ?? ""
                check(element, at: name, ["name", "elementID", "versionHashModifier", "syncable"])
                let parts = attributes(element, at: name)
                let size = parts.map { 1 + (compositeSizes[$0.valueClassName ?? ""] ?? 0) }.reduce(0, +)
                sizes[name] = size
                if size > Self.compositePartMax {
                    findings.append(
                        ModelFinding(
                            .invalid, element.name, at: name, line: element.line,
                            "The type has more than \(Self.compositePartMax) parts, with those inside of parts."))
                }
                composites[name] = size > Self.compositePartMax ? [] : parts
            }
            compositeSizes = sizes
        }
    }

    /// The greatest nesting depth of composite types.
    private static let compositeDepthMax = 8
    /// The most parts of a composite type, with those inside of parts.
    private static let compositePartMax = 1_000

    private mutating func configuration(_ element: MarkupElement) -> ModelVersion.Configuration {
        let name = named(element, at: "")
        check(element, at: name, ["name", "usedWithCloudKit"])
        var members: [String] = []
        for child in element.children {
            guard child.name == "memberEntity" else {
                unknownElement(child, at: name)
                continue
            }
            check(child, at: name, ["name"])
            if let member = child.attributes["name"] { members.append(member) }
        }
        return ModelVersion.Configuration(name: name, entityNames: members)
    }

    mutating func fetchRequest(_ element: MarkupElement, at place: String) -> ModelVersion.FetchRequest {
        let name = element.attributes["name"] ?? ""
        let settings = element.attributes.filter { !["name", "entity", "predicateString"].contains($0.key) }
        for child in element.children { unknownElement(child, at: place.isEmpty ? name : place) }
        return ModelVersion.FetchRequest(
            name: name, entityName: element.attributes["entity"],
            predicate: element.attributes["predicateString"].flatMap { $0.isEmpty ? nil : $0 }, settings: settings,
            line: element.line)
    }

    // MARK: Parts that several elements have

    /// The name of an element; an empty one becomes a finding.
    mutating func named(_ element: MarkupElement, at place: String) -> String {
        if let name = element.attributes["name"], !name.isEmpty { return name }
        findings.append(
            ModelFinding(
                .invalid, element.name, at: place, line: element.line, "It has no name, and the schema leaves it out."))
        return ""
    }

    /// Reports the attributes of an element that are not known.
    mutating func check(_ element: MarkupElement, at place: String, _ known: Set<String>) {
        for name in element.attributes.keys.sorted() where !known.contains(name) && !name.hasPrefix("xmlns") {
            findings.append(
                ModelFinding(
                    .unknown, name, at: place, line: element.line,
                    "This attribute of `\(element.name)` is not known, and was passed over."))
        }
    }

    mutating func unknownElement(_ element: MarkupElement, at place: String) {
        findings.append(
            ModelFinding(
                .unknown, element.name, at: place, line: element.line,
                "This element is not known, and was passed over."))
    }

    /// A flag, which is `YES` or `NO`.
    mutating func flag(_ element: MarkupElement, _ name: String, at place: String) -> Bool {
        switch element.attributes[name] {
        case "YES": return true
        case nil, "NO", "": return false
        case let value?:
            findings.append(
                ModelFinding(
                    .unknown, name, at: place, line: element.line, "The value \"\(value)\" is neither YES nor NO."))
            return false
        }
    }

    /// A count that is not negative; 0 if there is none.
    mutating func count(_ element: MarkupElement, _ name: String, at place: String) -> Int {
        guard let text = element.attributes[name] else { return 0 }
        // -1 stands for no bound.
        if let value = Int(text), value >= -1 { return max(value, 0) }
        findings.append(
            ModelFinding(.unknown, name, at: place, line: element.line, "The value \"\(text)\" is no number."))
        return 0
    }

    mutating func userInfo(_ element: MarkupElement, at place: String) -> [String: String] {
        var texts: [String: String] = [:]
        for entry in element.children {
            guard entry.name == "entry", let key = entry.attributes["key"] else {
                unknownElement(entry, at: place)
                continue
            }
            check(entry, at: place, ["key", "value"])
            texts[key] = entry.attributes["value"] ?? ""
        }
        return texts
    }
}
