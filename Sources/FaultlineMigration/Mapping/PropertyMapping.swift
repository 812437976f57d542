/// How one property of a new object gets its value.
public struct PropertyMapping: Sendable {
    /// The property of the new entity.
    public var name: String
    /// What it is set to; nil leaves the property at its default.
    public var valueExpression: ValueExpression?

    /// Sets a property to what an expression gives.
    public init(_ name: String, _ valueExpression: ValueExpression?) {
        self.name = name
        self.valueExpression = valueExpression
    }
}
