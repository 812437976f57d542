internal import SwiftSyntax

extension QueryTranslation {
    /// The node of a property of a value.
    func member(_ member: MemberAccessExprSyntax) -> String {
        guard let base = member.base else { return constant(ExprSyntax(member)) }
        if let names = member.declName.argumentNames {
            return refuse(
                "cannot refer to the method '\(member.declName.baseName.text)\(names.trimmedDescription)'. \(Self.remedy)",
                at: member.declName)
        }
        if member.declName.baseName.tokenKind == .keyword(.self) { return node(base) }
        return property(member.declName.trimmedDescription, of: node(base))
    }

    func property(_ name: String, of root: String) -> String {
        build("KeyPath", "root: \(root)", "keyPath: \\.\(name)")
    }

    /// The node of an element of a collection or a dictionary.
    func element(_ call: SubscriptCallExprSyntax) -> String {
        let arguments = Array(call.arguments)
        guard call.trailingClosure == nil, call.additionalTrailingClosures.isEmpty, let first = arguments.first,
            first.label == nil, arguments.count <= 2, arguments.dropFirst().allSatisfy({ $0.label?.text == "default" })
        else {
            return refuse(
                "takes an index, a range, or a key with an optional default value in a subscript.", at: call.arguments)
        }
        let (base, place) = (node(call.calledExpression), node(first.expression))
        guard let other = arguments.dropFirst().first else { return build("subscript", base, place) }
        return build("subscript", base, place, "default: \(node(other.expression))")
    }

    /// The first part with a question mark in a chain of members, calls and subscripts; nil if there is none, or if its
    /// value has a node already.
    func chainHead(of expression: ExprSyntax) -> OptionalChainingExprSyntax? {
        var head: OptionalChainingExprSyntax?
        var part: ExprSyntax? = expression
        while let current = part, unwrapped[current.id] == nil {
            if let marked = current.as(OptionalChainingExprSyntax.self) { head = marked }
            part = current.chained
        }
        return head
    }

    /// The node of an optional chain: the rest of the chain, evaluated for the value in front of the question mark.
    func chain(_ expression: ExprSyntax, from head: OptionalChainingExprSyntax) -> String {
        let wrapped = node(head.expression)
        let name = uniqueName("value")
        unwrapped[head.id] = name
        defer { unwrapped[head.id] = nil }
        return build("flatMap", wrapped) + " " + closure(name) { node(expression) }
    }
}

extension ExprSyntax {
    /// The expression that a member, a call, a subscript or an operator behind it applies to.
    var chained: ExprSyntax? {
        switch self.as(ExprSyntaxEnum.self) {
        case .memberAccessExpr(let member): member.base
        case .functionCallExpr(let call): call.calledExpression
        case .subscriptCallExpr(let call): call.calledExpression
        case .forceUnwrapExpr(let unwrap): unwrap.expression
        case .optionalChainingExpr(let part): part.expression
        default: nil
        }
    }
}
