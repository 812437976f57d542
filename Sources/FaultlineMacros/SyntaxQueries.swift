internal import SwiftSyntax

extension AttributeListSyntax {
    /// The first attribute of that name, written with or without a module's name in front.
    func attribute(named name: String) -> AttributeSyntax? {
        lazy.compactMap { $0.as(AttributeSyntax.self) }.first { $0.attributeName.lastComponent == name }
    }
}

extension TypeSyntax {
    /// The name after the last dot, without generic arguments; nil for types that are not names.
    var lastComponent: String? {
        if let type = self.as(IdentifierTypeSyntax.self) { return type.name.text }
        if let type = self.as(MemberTypeSyntax.self) { return type.name.text }
        return nil
    }

    /// Whether the type is written with a question or an exclamation mark, and so is nil without an initial value.
    var isImplicitlyNil: Bool {
        self.is(OptionalTypeSyntax.self) || self.is(ImplicitlyUnwrappedOptionalTypeSyntax.self)
    }

    /// Whether the type is written as an array, or as an optional one.
    var isArray: Bool {
        if self.is(ArrayTypeSyntax.self) || lastComponent == "Array" { return true }
        return self.as(OptionalTypeSyntax.self)?.wrappedType.isArray == true
    }

    /// The type as it can stand in an expression: `T!` becomes `T?`.
    var expressible: String {
        if let type = self.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) { return "\(type.wrappedType.trimmed)?" }
        return trimmedDescription
    }
}

extension ClassDeclSyntax {
    /// Whether the class may inherit from another class: a macro sees names, and not whether they are of protocols.
    var mayInherit: Bool {
        guard let first = inheritanceClause?.inheritedTypes.first?.type else { return false }
        return !Self.knownProtocols.contains(first.lastComponent ?? "")
    }

    /// Protocols that a model class often conforms to.
    private static let knownProtocols: Set<String> = [
        "AnyObject", "Codable", "Comparable", "CustomDebugStringConvertible", "CustomStringConvertible", "Decodable",
        "Encodable", "Equatable", "Hashable", "Identifiable", "Observable", "ObjectLifecycle", "Sendable",
        "SendableMetatype",
    ]
}

extension InitializerDeclSyntax {
    /// Whether the body calls an initializer of the superclass.
    var callsSuperInit: Bool {
        guard let body else { return false }
        let search = SuperInitSearch(viewMode: .sourceAccurate)
        search.walk(body)
        return search.isFound
    }
}

extension FunctionCallExprSyntax {
    /// Whether it calls an initializer of the superclass.
    var isSuperInit: Bool {
        guard let callee = calledExpression.as(MemberAccessExprSyntax.self) else { return false }
        return callee.base?.is(SuperExprSyntax.self) == true && callee.declName.baseName.text == "init"
    }
}

private final class SuperInitSearch: SyntaxVisitor {
    private(set) var isFound = false

    override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
        if node.isSuperInit { isFound = true }
        return .visitChildren
    }
}

extension DeclModifierListSyntax {
    func contains(_ keyword: Keyword) -> Bool {
        contains { $0.name.tokenKind == .keyword(keyword) }
    }

    /// The modifier that members need in order to satisfy a public protocol's requirements, with a space after it;
    /// empty for internal and narrower types.
    var witnessAccess: String {
        if contains(.public) || contains(.open) { return "public " }
        return contains(.package) ? "package " : ""
    }

    /// The same for members that subclasses override.
    var overridableAccess: String { contains(.open) ? "open " : witnessAccess }
}

extension TokenSyntax {
    /// The name without back-ticks.
    var unquoted: String {
        text.count > 2 && text.first == "`" && text.last == "`" ? String(text.dropFirst().dropLast()) : text
    }
}
