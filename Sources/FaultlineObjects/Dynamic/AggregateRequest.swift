/// What to compute over the objects of an entity that is known at run time only, for all of them or group by group.
///
///     var request = AggregateRequest(entityName: "Person", .count(as: "people"), .average("age", as: "age"))
///     request.propertiesToGroupBy = ["city"]
///     request.having = { ($0["people"] as? Int ?? 0) > 1_000 }
///
/// It stands where Core Data has a fetch request of dictionaries with expression descriptions.
public struct AggregateRequest: Sendable {
    /// The entity over whose objects something is computed.
    public var entityName: String
    /// Over which objects; nil for all.
    public var filter: Filter?
    /// What is computed.
    public var expressions: [Expression]
    /// Attributes and relationships to one by which objects are grouped; empty for one group of all.
    public var propertiesToGroupBy: [String] = []
    /// Which groups are wanted, by what the result has for them; nil for all.
    public var having: (@Sendable ([String: Any]) throws -> Bool)?
    /// At most so many groups, 0 or nil for no bound.
    public var fetchLimit: Int?
    /// So many groups are left out at the beginning.
    public var fetchOffset: Int?
    /// Whether unsaved changes of the context count.
    public var includesPendingChanges = true

    /// One value of a result, with its name there.
    public struct Expression: Sendable {
        let name: String
        let function: AggregateFunction
        /// Nil for a count of objects.
        let key: String?

        /// How many objects there are, an `Int`.
        public static func count(as name: String) -> Expression {
            Expression(name: name, function: .count, key: nil)
        }
        /// How many objects have a value that is not nil, an `Int`.
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

    /// Describes what is computed over the objects of an entity that satisfy a filter.
    public init(entityName: String, filter: Filter? = nil, _ expressions: Expression...) {
        self.entityName = entityName
        self.filter = filter
        self.expressions = expressions
    }
}
