import Faultline

/// Values as a client may send them: encoded, with some parts replaced.
enum Tampering {
    /// Encodes a value, lets `change` replace parts of the JSON, and decodes the result.
    static func decoded<T: Codable>(_ value: T, _ change: (inout [String: Any]) -> Void) throws -> T {
        let object = try JSONSerialization.jsonObject(with: JSONEncoder().encode(value))
        var parts = object as? [String: Any] ?? [:]
        change(&parts)
        return try JSONDecoder().decode(T.self, from: JSONSerialization.data(withJSONObject: parts))
    }
}

extension PersistentIdentifier {
    /// The identifier with another number, store or entity, as it is decoded.
    func tampered(number: UInt64? = nil, store: String? = nil, entity: String? = nil) throws -> PersistentIdentifier {
        try Tampering.decoded(self) { parts in
            if let number { parts["number"] = number }
            if let store { parts["store"] = store }
            if let entity { parts["entity"] = entity }
        }
    }
}

extension FetchCursor {
    /// The cursor with another identifier, order or sort keys, as it is decoded.
    func tampered(
        _ change: (inout [String: Any]) -> Void = { _ in }, order: [String]? = nil, keys: [[UInt8]]? = nil
    ) throws -> FetchCursor {
        try Tampering.decoded(self) { parts in
            var identifier = parts["identifier"] as? [String: Any] ?? [:]
            change(&identifier)
            parts["identifier"] = identifier
            if let order { parts["order"] = order }
            if let keys { parts["keys"] = keys.map { Data($0).base64EncodedString() } }
        }
    }
}
