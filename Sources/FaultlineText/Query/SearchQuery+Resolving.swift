extension SearchQuery {
    /// The terms and fields of the query, for one index.
    ///
    /// - Parameters:
    ///   - analyzer: Finds the terms of the query's texts.
    ///   - fields: The names of the index's fields.
    ///   - searched: The fields that the query may name, by number; nil for all.
    /// - Returns: The query.
    /// - Throws: `TextQueryError`, whose offset is a place in the text of the part that is wrong.
    package func resolve(
        analyzer: TextAnalyzer, fields: [String], searched: [Int]? = nil
    ) throws(TextQueryError) -> TextQuery {
        if let searched {
            return try resolve(analyzer: analyzer, fields: searched.map { fields[$0] }).numbered(searched)
        }
        let query = try Resolver(analyzer: analyzer, fields: fields).query(of: node, depth: 0)
        return .conjunction(of: [query])
    }

    private struct Resolver {
        let analyzer: TextAnalyzer
        let fields: [String]

        /// The query of a node; a `not` if the node is one.
        func query(of node: Node, depth: Int) throws(TextQueryError) -> TextQuery {
            guard depth < TextQuery.depthMax else { throw .tooDeep(at: 0) }
            switch node {
            case .text(let text):
                return try TextQueryParser.parse(text, analyzer: analyzer, fields: fields)
            case .words(let text, let isPrefix):
                return try words(text, isPrefix: isPrefix)
            case .phrase(let text, let isPrefix):
                return .sequence(of: try terms(of: text, isPrefix: isPrefix))
            case .near(let phrases, let distance):
                return try near(phrases, distance: distance)
            case .all(let nodes):
                return .conjunction(of: try queries(of: nodes, depth: depth))
            case .any(let nodes):
                return .disjunction(of: try queries(of: nodes, depth: depth).map { .conjunction(of: [$0]) })
            case .not(let node):
                return .negation(of: try query(of: node, depth: depth + 1))
            case .property(let name, let node):
                guard let number = fields.firstIndex(of: name) else {
                    throw .unknownField(name, of: fields, at: 0)
                }
                return .restriction(of: try query(of: node, depth: depth + 1), to: number)
            }
        }

        private func queries(of nodes: [Node], depth: Int) throws(TextQueryError) -> [TextQuery] {
            var queries: [TextQuery] = []
            for node in nodes { queries.append(try query(of: node, depth: depth + 1)) }
            return queries
        }

        /// Each word of a text, between its spaces, as the query language takes a word without operators.
        private func words(_ text: String, isPrefix: Bool) throws(TextQueryError) -> TextQuery {
            let bytes = try checked(text)
            let parts = bytes.split(whereSeparator: TextQueryParser.isSpace)
            var queries: [TextQuery] = []
            for part in parts {
                let isLast = part.endIndex == bytes.endIndex
                let terms = try analyzer.queryTerms(in: part, isPrefix: isPrefix && isLast)
                if !terms.isEmpty { queries.append(.sequence(of: terms)) }
            }
            return queries.isEmpty ? .none : .conjunction(of: queries)
        }

        private func near(_ phrases: [String], distance: Int) throws(TextQueryError) -> TextQuery {
            guard distance >= 0, !phrases.isEmpty else {
                throw TextQueryError(
                    .invalidNear, at: 0, "`near` takes words or phrases, and a number that is not negative.")
            }
            var parts: [[TextTerm]] = []
            for phrase in phrases { parts.append(try terms(of: phrase, isPrefix: false)) }
            return parts.count == 1
                ? .sequence(of: parts[0]) : .near(parts, distance: min(distance, TextQuery.nearDistanceMax))
        }

        private func terms(of text: String, isPrefix: Bool) throws(TextQueryError) -> [TextTerm] {
            let terms = try analyzer.queryTerms(in: try checked(text), isPrefix: isPrefix)
            guard !terms.isEmpty else { throw .noWord(at: 0) }
            return terms
        }

        private func checked(_ text: String) throws(TextQueryError) -> ArraySlice<UInt8> {
            let bytes = Array(text.utf8)
            guard bytes.count <= TextQuery.byteCountMax else { throw .queryTooLong(bytes.count) }
            return bytes[...]
        }
    }
}
