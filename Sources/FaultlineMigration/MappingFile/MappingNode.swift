internal import FaultlineObjects
internal import FoundationEssentials

/// A value of a mapping file, and its place.
struct MappingNode {
    /// A value of JSON.
    enum Value: Decodable {
        case null
        case bool(Bool)
        case int(Int)
        case double(Double)
        case text(String)
        case list([Value])
        case object([String: Value])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                self = .null
            } else if let value = try? container.decode(Bool.self) {
                self = .bool(value)
            } else if let value = try? container.decode(Int.self) {
                self = .int(value)
            } else if let value = try? container.decode(Double.self) {
                self = .double(value)
            } else if let value = try? container.decode(String.self) {
                self = .text(value)
            } else if let value = try? container.decode([Value].self) {
                self = .list(value)
            } else {
                self = .object(try container.decode([String: Value].self))
            }
        }

        /// The type of the value, for a message.
        var kind: String {
            switch self {
            case .null: "null"
            case .bool: "true or false"
            case .int, .double: "a number"
            case .text: "a text"
            case .list: "a list"
            case .object: "an object"
            }
        }
    }

    let value: Value
    let path: String

    /// An object's values; all keys must be in a list.
    func object(of keys: [String]) throws(MappingFileError) -> [String: MappingNode] {
        let object = try self.object()
        for key in object.keys.sorted() where !keys.contains(key) {
            let known = keys.map { "\"\($0)\"" }.joined(separator: ", ")
            throw MappingFileError(
                code: .unknownKey, path: path, message: "\"\(key.excerpt)\" means nothing here. Known are \(known).")
        }
        return object
    }

    /// An object's values.
    func object() throws(MappingFileError) -> [String: MappingNode] {
        guard case .object(let object) = value else { throw wrong("an object") }
        var nodes: [String: MappingNode] = [:]
        for (key, value) in object {
            nodes[key] = MappingNode(value: value, path: path.isEmpty ? key : "\(path).\(key)")
        }
        return nodes
    }

    func list() throws(MappingFileError) -> [MappingNode] {
        guard case .list(let values) = value else { throw wrong("a list") }
        return values.enumerated().map { MappingNode(value: $1, path: "\(path)[\($0)]") }
    }

    func text() throws(MappingFileError) -> String {
        guard case .text(let text) = value else { throw wrong("a text") }
        return text
    }

    func int() throws(MappingFileError) -> Int {
        guard case .int(let number) = value else { throw wrong("a whole number") }
        return number
    }

    /// Makes the error for a value of the wrong type.
    func wrong(_ wanted: String) -> MappingFileError {
        MappingFileError(code: .wrongValue, path: path, message: "\(wanted) is wanted, and this is \(value.kind).")
    }
}
