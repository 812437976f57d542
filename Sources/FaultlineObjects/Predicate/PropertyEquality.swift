internal import FaultlineStore
internal import Foundation

/// A predicate with one condition on one property: `$0.property == constant`.
///
/// It is read without lowering it. How to read an expression's type is remembered, because finding that out takes
/// several casts to protocols.
struct PropertyEquality {
    let keyPath: AnyKeyPath
    /// Not nil.
    let value: RowValue

    /// Nil for a predicate of another form.
    ///
    /// - Parameters:
    ///   - expression: The predicate's expression.
    ///   - variable: The predicate's variable.
    ///   - home: The entity that is fetched, which remembers the last type of an expression.
    init?(
        _ expression: any StandardPredicateExpression<Bool>, _ variable: PredicateExpressions.VariableID,
        _ home: EntityHome
    ) {
        guard let node = home.equalities.node(of: type(of: expression)), let parts = Self.parts(expression, node),
            parts.variable == variable
        else { return nil }
        keyPath = parts.keyPath
        value = parts.value
    }

    private static func parts<E: PredicateExpression, N: EqualityNode>(
        _ expression: E, _ type: N.Type
    ) -> EqualityParts? {
        guard E.self == N.self else { return nil }
        // Safe because the types are the same. A cast to an optional would first look up the type of the optional.
        return withUnsafePointer(to: expression) { N.parts(at: UnsafeRawPointer($0).assumingMemoryBound(to: N.self)) }
    }
}

/// How to read the type of the expression that was read last; programs mostly repeat one.
struct EqualityCache {
    private var type: ObjectIdentifier?
    private var node: (any EqualityNode.Type)?

    /// The type itself, or nil if it does not compare a property with a constant.
    fileprivate mutating func node(of type: any (PredicateExpression & Sendable).Type) -> (any EqualityNode.Type)? {
        if self.type != ObjectIdentifier(type) {
            node = EqualityNodes.node(of: type)
            self.type = ObjectIdentifier(type)
        }
        return node
    }
}

/// Finds the types of expressions that compare a property with a constant.
private enum EqualityNodes {
    private static let facts = ExpressionFacts<(any EqualityNode.Type)?>()

    /// The type itself, or nil if it is none of these.
    static func node(of type: any (PredicateExpression & Sendable).Type) -> (any EqualityNode.Type)? {
        facts.fact(of: type) { type as? any EqualityNode.Type }
    }
}

/// The parts of `property == constant`.
private struct EqualityParts {
    let keyPath: AnyKeyPath
    let variable: PredicateExpressions.VariableID
    let value: RowValue
}

/// `property == constant`.
private protocol EqualityNode: PredicateExpression, SendableMetatype {
    /// Reads the parts where they lie: a copy of a value whose type is unknown here is a call of the runtime.
    ///
    /// - Returns: Nil if rows cannot be compared with the constant.
    static func parts(at place: UnsafePointer<Self>) -> EqualityParts?
}

extension PredicateExpressions.Equal: EqualityNode where LHS: PropertyNode, RHS: ConstantNode {
    fileprivate static func parts(at place: UnsafePointer<Self>) -> EqualityParts? {
        guard let value = place.pointee.rhs.rowValue else { return nil }
        let property = place.pointee.lhs.property
        return EqualityParts(keyPath: property.keyPath, variable: property.variable, value: value)
    }
}

/// A property of a variable.
private protocol PropertyNode: PredicateExpression {
    var property: (keyPath: AnyKeyPath, variable: PredicateExpressions.VariableID) { get }
}

extension PredicateExpressions.KeyPath: PropertyNode where Root: VariableNode {
    fileprivate var property: (keyPath: AnyKeyPath, variable: PredicateExpressions.VariableID) { (keyPath, root.key) }
}

private protocol VariableNode: PredicateExpression {
    var key: PredicateExpressions.VariableID { get }
}

extension PredicateExpressions.Variable: VariableNode {}

private protocol ConstantNode: PredicateExpression {
    /// The constant in the form that rows are compared with; nil if it has none, or is nil.
    var rowValue: RowValue? { get }
}

extension PredicateExpressions.Value: ConstantNode {
    fileprivate var rowValue: RowValue? { PredicateLowering.constant(of: value) }
}
