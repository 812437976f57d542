internal import FaultlineStore
internal import Foundation

/// A predicate with one condition on one property: `$0.property == constant`.
///
/// It is read without lowering it. The cache remembers how to read an expression's type: finding that out takes several
/// casts to protocols, using it takes one to a known type.
struct PropertyEquality {
    let keyPath: AnyKeyPath
    /// Not nil.
    let value: RowValue

    /// - Returns: Nil for a predicate of another form.
    init?(_ expression: any StandardPredicateExpression<Bool>, _ variable: PredicateExpressions.VariableID) {
        guard let node = EqualityNodes.node(of: type(of: expression)),
            let (keyPath, owner, constant) = Self.parts(expression, node), owner == variable,
            let value = PredicateLowering.constant(constant)
        else { return nil }
        if case .null = value { return nil }
        self.keyPath = keyPath
        self.value = value
    }

    private static func parts<E: PredicateExpression, N: EqualityNode>(_ expression: E, _ type: N.Type) -> N.Parts? {
        guard E.self == N.self else { return nil }
        // Safe because the types are the same. A cast to an optional would first look up the type of the optional.
        return withUnsafePointer(to: expression) {
            UnsafeRawPointer($0).assumingMemoryBound(to: N.self).pointee.parts
        }
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

/// `property == constant`.
private protocol EqualityNode: PredicateExpression, SendableMetatype {
    typealias Parts = (keyPath: AnyKeyPath, variable: PredicateExpressions.VariableID, constant: Any)
    var parts: Parts { get }
}

extension PredicateExpressions.Equal: EqualityNode where LHS: PropertyNode, RHS: ConstantNode {
    fileprivate var parts: Parts { (lhs.propertyKeyPath, lhs.owner, rhs.constant) }
}

/// A property of a variable.
private protocol PropertyNode: PredicateExpression {
    var propertyKeyPath: AnyKeyPath { get }
    var owner: PredicateExpressions.VariableID { get }
}

extension PredicateExpressions.KeyPath: PropertyNode where Root: VariableNode {
    fileprivate var propertyKeyPath: AnyKeyPath { keyPath }
    fileprivate var owner: PredicateExpressions.VariableID { root.key }
}

private protocol VariableNode: PredicateExpression {
    var key: PredicateExpressions.VariableID { get }
}

extension PredicateExpressions.Variable: VariableNode {}

private protocol ConstantNode: PredicateExpression {
    var constant: Any { get }
}

extension PredicateExpressions.Value: ConstantNode {
    fileprivate var constant: Any { value }
}
