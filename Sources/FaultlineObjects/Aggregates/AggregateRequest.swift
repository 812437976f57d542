/// Aggregates to compute over the objects of an entity that is known only at run time, for all of them or for each
/// group.
///
///     var request = AggregateRequest(entityName: "Person", .count(as: "people"), .average("age", as: "age"))
///     request.propertiesToGroupBy = ["city"]
///     request.having = { ($0["people"] as? Int ?? 0) > 1_000 }
///
/// It replaces Core Data's fetch requests of dictionaries with expression descriptions.
public struct AggregateRequest: Sendable {
    /// The entity whose objects are aggregated.
    public var entityName: String
    /// Selects the objects; nil for all.
    public var filter: Filter?
    /// The values to compute.
    public var expressions: [Expression]
    /// Attributes and to-one relationships by which objects are grouped; empty for one group of all.
    public var propertiesToGroupBy: [String] = []
    /// Selects groups by their results; nil for all.
    public var having: (@Sendable ([String: Any]) throws -> Bool)?
    /// The greatest number of groups; 0 or nil for no bound.
    public var fetchLimit: Int?
    /// The number of groups to skip at the beginning.
    public var fetchOffset: Int?
    /// Whether unsaved changes of the context count.
    public var includesPendingChanges = true

    /// One value of a result, with its name there.
    public struct Expression: Sendable {
        let name: String
        let function: AggregateFunction
        /// Nil for a count of objects.
        let key: String?

        /// The number of objects, an `Int`.
        public static func count(as name: String) -> Expression {
            Expression(name: name, function: .count, key: nil)
        }
        /// The number of objects whose value is not nil, an `Int`.
        public static func count(_ key: String, as name: String) -> Expression {
            Expression(name: name, function: .count, key: key)
        }
        /// The sum of the values that are not nil: an exact `Int` or `Decimal`, or a `Double`.
        public static func sum(_ key: String, as name: String) -> Expression {
            Expression(name: name, function: .sum, key: key)
        }
        /// The average of the values that are not nil, a `Double` or a `Decimal`; absent if there is none.
        public static func average(_ key: String, as name: String) -> Expression {
            Expression(name: name, function: .average, key: key)
        }
        /// The least value that is not nil; absent if there is none.
        public static func minimum(_ key: String, as name: String) -> Expression {
            Expression(name: name, function: .minimum, key: key)
        }
        /// The greatest value that is not nil; absent if there is none.
        public static func maximum(_ key: String, as name: String) -> Expression {
            Expression(name: name, function: .maximum, key: key)
        }
    }

    /// Describes aggregates over the objects of an entity that satisfy a filter.
    public init(entityName: String, filter: Filter? = nil, _ expressions: Expression...) {
        self.entityName = entityName
        self.filter = filter
        self.expressions = expressions
    }
}
