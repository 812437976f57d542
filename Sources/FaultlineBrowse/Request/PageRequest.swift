/// One request for a page: a path and a query, decoded.
package struct PageRequest: Sendable, Equatable {
    /// The parts of the path behind the token.
    package let path: [String]
    /// The items of the query, in their order; names may come several times.
    package let query: [QueryItem]
    /// The value of the header `Range`.
    package let range: String?

    /// An item of a query.
    package struct QueryItem: Sendable, Equatable {
        package let name: String
        package let value: String
    }

    /// The largest path with its query, in bytes.
    package static let byteCountMax = 16 << 10

    /// Decodes a request; nil for a target that is too long, or is not valid.
    ///
    /// - Parameters:
    ///   - target: Path and query, as the client sent them: `/entity/Photo?sort=name`.
    ///   - range: The value of the header `Range`.
    package init?(target: String, range: String? = nil) {
        guard target.utf8.count <= Self.byteCountMax, target.hasPrefix("/") else { return nil }
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var path: [String] = []
        for part in parts[0].split(separator: "/", omittingEmptySubsequences: true) {
            guard let text = PercentCoding.decode(part) else { return nil }
            path.append(text)
        }
        var query: [QueryItem] = []
        if parts.count > 1 {
            for item in parts[1].split(separator: "&", omittingEmptySubsequences: true) {
                let sides = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard let name = PercentCoding.decode(sides[0], plusIsSpace: true),
                    let value = PercentCoding.decode(sides.count > 1 ? sides[1] : "", plusIsSpace: true)
                else { return nil }
                query.append(QueryItem(name: name, value: value))
            }
        }
        (self.path, self.query, self.range) = (path, query, range)
    }

    /// The first value of an item; nil if it is missing or empty.
    func value(_ name: String) -> String? {
        query.first { $0.name == name && !$0.value.isEmpty }?.value
    }
}
