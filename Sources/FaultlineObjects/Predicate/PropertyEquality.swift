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

extension PredicateExpressions.Equal: EqualityNode where LHS: PropertyNode, RHS: ConstantNode {
    static func parts(at place: UnsafePointer<Self>) -> EqualityParts? {
        guard let value = place.pointee.rhs.rowValue else { return nil }
        let property = place.pointee.lhs.property
        return EqualityParts(keyPath: property.keyPath, variable: property.variable, value: value)
    }
}

/// A property of a variable.
protocol PropertyNode: PredicateExpression {
    var property: (keyPath: AnyKeyPath, variable: PredicateExpressions.VariableID) { get }
}

extension PredicateExpressions.KeyPath: PropertyNode where Root: VariableNode {
    var property: (keyPath: AnyKeyPath, variable: PredicateExpressions.VariableID) { (keyPath, root.key) }
}

protocol VariableNode: PredicateExpression {
    var key: PredicateExpressions.VariableID { get }
}

extension PredicateExpressions.Variable: VariableNode {}

protocol ConstantNode: PredicateExpression {
    /// The constant in the form that rows are compared with; nil if it has none, or is nil.
    var rowValue: RowValue? { get }
}

extension PredicateExpressions.Value: ConstantNode {
    var rowValue: RowValue? { PredicateLowering.constant(of: value) }
}
