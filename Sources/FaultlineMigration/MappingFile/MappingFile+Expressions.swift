internal import FaultlineModel
internal import FaultlineObjects

extension MappingFile {
    /// The value of a property: `{"source": "text"}` and the other forms.
    func expression(
        _ node: MappingNode, _ old: Schema.Entity?, _ attribute: Schema.Attribute?
    ) throws(MappingFileError) -> ValueExpression {
        let keys = try node.object(of: [
            "source", "constant", "destinations", "by", "counterparts", "split", "separator", "part", "join", "number",
            "text",
        ])
        let forms = ["source", "constant", "destinations", "counterparts", "split", "join", "number", "text"]
            .filter { keys[$0] != nil }
        guard forms.count == 1, let form = forms.first, let value = keys[form] else {
            throw MappingFileError(
                code: .missingKey, path: node.path,
                message:
                    "One of \"source\", \"constant\", \"destinations\", \"counterparts\", \"split\", \"join\", \"number\" and \"text\" names the value."
            )
        }
        let parts = try node.object(of: [form] + (Self.parts[form] ?? []))
        switch form {
        case "source": return .source(try value.text())
        case "constant": return .constant(try value.value(of: attribute))
        case "destinations": return .destinations(of: try value.text(), by: try parts["by"]?.text())
        case "counterparts": return .counterparts(by: try value.text())
        case "join": return try joined(value, try parts["separator"]?.text() ?? " ", old)
        case "split": return try split(value, parts, node, old, isNumber: attribute?.kind.isNumber == true)
        case "number": return number(try known(value, in: old).path)
        default: return text(try known(value, in: old).path)
        }
    }

    /// The keys that may accompany a form.
    private static let parts = [
        "destinations": ["by"], "join": ["separator"], "split": ["separator", "part"],
    ]

    /// A property of the old entity, or the end of a path of names that starts with one.
    func known(
        _ node: MappingNode, in entity: Schema.Entity?
    ) throws(MappingFileError) -> (path: String, attribute: Schema.Attribute?) {
        let path = try node.text()
        let names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard let entity else { return (path, nil) }
        guard let property = entity.properties.first(where: { $0.name == names[0] }) else {
            throw MappingFileError(
                code: .unknownProperty, path: node.path,
                message: NearestName.unknown(names[0], among: entity))
        }
        return (path, names.count == 1 ? property as? Schema.Attribute : nil)
    }

    /// The texts of several properties, without nil.
    private func joined(
        _ node: MappingNode, _ separator: String, _ old: Schema.Entity?
    ) throws(MappingFileError) -> ValueExpression {
        var paths: [String] = []
        for part in try node.list() { paths.append(try known(part, in: old).path) }
        return .computed { [paths] source, _ in
            paths.compactMap { source.value(forKeyPath: $0).map { "\($0)" } }.joined(separator: separator)
        }
    }

    /// One of the parts of a text, counted from 0, or from its end if negative; nil if it does not exist.
    ///
    /// As a number, if the property is numeric.
    private func split(
        _ node: MappingNode, _ parts: [String: MappingNode], _ whole: MappingNode, _ old: Schema.Entity?,
        isNumber: Bool
    ) throws(MappingFileError) -> ValueExpression {
        let path = try known(node, in: old).path
        let separator = try parts["separator"]?.text() ?? " "
        guard let place = try parts["part"]?.int() else {
            throw MappingFileError(
                code: .missingKey, path: whole.path,
                message: "\"part\" is missing: which part it is, the first being 0.")
        }
        guard !separator.isEmpty else {
            throw parts["separator"]?.wrong("a text that is not empty") ?? whole.wrong("a separator")
        }
        return .computed { source, _ in
            guard let text = source.value(forKeyPath: path) as? String else { return nil }
            let pieces = text.split(separator: separator, omittingEmptySubsequences: false)
            let index = place < 0 ? pieces.count + place : place
            guard pieces.indices.contains(index) else { return nil }
            let piece = String(pieces[index])
            return isNumber ? try Self.number(saidBy: piece) : piece
        }
    }

    /// The number in a text, or a number or a boolean value unchanged.
    private func number(_ path: String) -> ValueExpression {
        .computed { source, _ in
            switch source.value(forKeyPath: path) {
            case let text as String: return try Self.number(saidBy: text)
            case let value as Bool: return value ? 1 : 0
            case let other: return other
            }
        }
    }

    private static func number(saidBy text: String) throws -> Any {
        if let whole = Int(text) { return whole }
        guard let number = Double(text) else { throw UnreadableNumber(text: text) }
        return number
    }

    /// A value as text.
    private func text(_ path: String) -> ValueExpression {
        .computed { source, _ in source.value(forKeyPath: path).map { "\($0)" } }
    }
}

extension AttributeKind {
    fileprivate var isNumber: Bool {
        switch self {
        case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64, .float, .double: true
        case .bool, .date, .uuid, .decimal, .string, .url, .data, .codable: false
        }
    }
}

/// A text that is no number.
private struct UnreadableNumber: Error, CustomStringConvertible {
    let text: String
    var description: String { "\"\(text)\" is no number" }
}
