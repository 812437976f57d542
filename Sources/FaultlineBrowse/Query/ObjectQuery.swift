import FaultlineModel
import FaultlineObjects

/// The objects that a list shows: conditions, an order, and the place of the page.
struct ObjectQuery {
    static let conditionCountMax = 3

    let conditions: [Condition]
    /// The attribute of the order; nil for the order of creation.
    let sortKey: String?
    let isDescending: Bool
    /// The place of the page, as the link to it has it.
    let cursor: String?

    /// Reads the query of a request.
    ///
    /// - Throws: A failure of status 400 for an unknown operator.
    init(_ request: PageRequest) throws(PageFailure) {
        var conditions: [Condition] = []
        for place in 0..<Self.conditionCountMax {
            guard let path = request.value("p\(place)") else { continue }
            let sign = request.value("o\(place)") ?? Condition.Comparison.equal.rawValue
            guard let comparison = Condition.Comparison(rawValue: sign) else {
                throw PageFailure(400, "There is no operator \(sign).")
            }
            conditions.append(
                Condition(path: path, comparison: comparison, text: request.value("v\(place)") ?? ""))
        }
        self.conditions = conditions
        sortKey = request.value("sort")
        isDescending = request.value("order") == "down"
        cursor = request.value("after")
    }

    /// Whether all rows of the entity may have to be read for one page.
    var mayReadAll: Bool { !conditions.isEmpty || sortKey != nil }

    /// The fetch for an entity.
    ///
    /// - Throws: A failure of status 400 for an unknown property, or a value of a wrong kind.
    func request(_ entity: Schema.Entity, in schema: Schema) throws(PageFailure) -> FetchRequest {
        var request = FetchRequest(entityName: entity.name)
        for condition in conditions {
            let filter = try condition.filter(of: entity, in: schema)
            request.filter = request.filter.map { $0 && filter } ?? filter
        }
        if let sortKey {
            guard let attribute = entity.attributesByName[sortKey], attribute.kind.isOrdered else {
                throw PageFailure(400, "\(entity.name) cannot be sorted by \(sortKey). Choose a property of the list.")
            }
            request.sortedBy = [isDescending ? .descending(sortKey) : .ascending(sortKey)]
        }
        return request
    }

    /// The query of the address of a page, from its beginning, or behind a cursor.
    func items(after cursor: String? = nil) -> [(String, String)] {
        var items: [(String, String)] = []
        for (place, condition) in conditions.enumerated() {
            items.append(("p\(place)", condition.path))
            items.append(("o\(place)", condition.comparison.rawValue))
            if !condition.text.isEmpty { items.append(("v\(place)", condition.text)) }
        }
        if let sortKey { items.append(("sort", sortKey)) }
        if sortKey != nil, isDescending { items.append(("order", "down")) }
        if let cursor { items.append(("after", cursor)) }
        return items
    }
}

extension AttributeKind {
    /// Whether objects can be listed in the order of such values.
    var isOrdered: Bool { self != .data && self != .codable }
}
