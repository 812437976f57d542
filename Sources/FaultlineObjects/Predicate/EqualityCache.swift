internal import FaultlineStore
internal import Foundation

/// How to read the type of the expression that was read last; programs mostly repeat one.
struct EqualityCache {
    private var type: ObjectIdentifier?
    private var node: (any EqualityNode.Type)?

    /// The type itself, or nil if it does not compare a property with a constant.
    mutating func node(of type: any (PredicateExpression & Sendable).Type) -> (any EqualityNode.Type)? {
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
struct EqualityParts {
    let keyPath: AnyKeyPath
    let variable: PredicateExpressions.VariableID
    let value: RowValue
}

/// `property == constant`.
protocol EqualityNode: PredicateExpression, SendableMetatype {
    /// Reads the parts where they lie: a copy of a value whose type is unknown here is a call of the runtime.
    ///
    /// - Returns: Nil if rows cannot be compared with the constant.
    static func parts(at place: UnsafePointer<Self>) -> EqualityParts?
}
