/// Sets one property of a new object.
public struct PropertyMapping: Sendable {
    /// The property of the new entity.
    public var name: String
    /// The value of the property; nil leaves the property at its default.
    public var valueExpression: ValueExpression?

    /// Sets a property to the value of an expression.
    public init(_ name: String, _ valueExpression: ValueExpression?) {
        self.name = name
        self.valueExpression = valueExpression
    }
}
