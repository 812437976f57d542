public import FaultlineObjects

/// The value of a property of a new object, as an expression.
public struct ValueExpression: Sendable {
    enum Form: Sendable {
        case constant((any Sendable)?)
        case source(String)
        case destinations(String, mapping: String?)
        case counterparts(mapping: String)
        case computed(@Sendable (ManagedObject, MigrationManager) throws -> Any?)
    }

    let form: Form
    /// The text of an expression in a file, whose code follows from it; nil for all others.
    var text: String?

    /// The same value for every object.
    public static func constant(_ value: (any Sendable)?) -> ValueExpression { ValueExpression(form: .constant(value)) }

    /// The value of a property of the old object, or at the end of a path of names.
    ///
    /// A large value that is copied whole is moved without being read.
    public static func source(_ keyPath: String) -> ValueExpression { ValueExpression(form: .source(keyPath)) }

    /// The new objects of the objects in a relationship of the old object.
    ///
    /// - Parameters:
    ///   - relationship: A relationship of the old entity.
    ///   - mapping: The mapping that made them; nil if only one is possible.
    /// - Returns: An expression for a relationship.
    public static func destinations(of relationship: String, by mapping: String? = nil) -> ValueExpression {
        ValueExpression(form: .destinations(relationship, mapping: mapping))
    }

    /// The new objects of the same old object, by another mapping.
    public static func counterparts(by mapping: String) -> ValueExpression {
        ValueExpression(form: .counterparts(mapping: mapping))
    }

    /// A value that code computes from the old object; for a relationship, a new object or an array of them.
    public static func computed(
        _ body: @escaping @Sendable (_ source: ManagedObject, _ manager: MigrationManager) throws -> Any?
    ) -> ValueExpression {
        ValueExpression(form: .computed(body))
    }

    /// A value that the expression of a file computes: a stopped stage is only resumed by the same text.
    package static func computed(
        as text: String,
        _ body: @escaping @Sendable (_ source: ManagedObject, _ manager: MigrationManager) throws -> Any?
    ) -> ValueExpression {
        ValueExpression(form: .computed(body), text: text)
    }
}
