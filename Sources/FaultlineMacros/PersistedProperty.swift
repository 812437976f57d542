internal import SwiftSyntax

/// A property of a model class that is stored, as its declaration describes it.
struct PersistedProperty {
    /// The name as written, back-ticks included.
    let identifier: TokenSyntax
    let type: TypeSyntax?
    let initialValue: ExprSyntax?
    let attributes: AttributeListSyntax
    /// Whether the property is declared with `let`, and so has no setter.
    let isConstant: Bool
    /// The `willSet` and `didSet` of the property, which the compiler drops: the accessors take their place.
    let observers: AccessorBlockSyntax?

    /// The name without back-ticks.
    var name: String { identifier.unquoted }

    /// The marker's name, in back-ticks where the name is not a plain identifier.
    var markerName: String {
        let isPlain = name.allSatisfy { $0 == "_" || $0.isLetter || $0.isNumber }
        return isPlain ? "_\(name)" : "`_\(name)`"
    }

    /// Whether initializers may leave the property out.
    var hasInitialValue: Bool { initialValue != nil || type?.isImplicitlyNil == true }

    /// Whether values go through a transformer, and so need not be `Codable`.
    var isTransformable: Bool {
        options.contains { $0.as(FunctionCallExprSyntax.self)?.calledExpression.isMember("transformable") == true }
    }

    /// Whether values are never stored.
    var isEphemeral: Bool { options.contains { $0.isMember("ephemeral") } }

    /// The value of a property that was given none, as an expression; nil if the property declares none.
    var fallbackExpression: String? { hasInitialValue ? defaultExpression : nil }

    /// The arguments of the property's `@Attribute`.
    private var options: [ExprSyntax] {
        guard case .argumentList(let arguments) = attributes.attribute(named: "Attribute")?.arguments else {
            return []
        }
        return arguments.map(\.expression)
    }

    /// The initial value as an expression of the declared type, so that `.member` and `[]` keep their meaning where any
    /// type is accepted; `nil` if there is none.
    var defaultExpression: String {
        guard let initialValue else { return "nil" }
        guard let type else { return initialValue.trimmedDescription }
        return "(\(initialValue.trimmedDescription)) as \(type.expressible)"
    }

    /// The schema's part that the property's attributes describe; `nil` if they say nothing.
    var metadataExpression: String {
        for kind in ["Relationship", "Attribute"] {
            guard let attribute = attributes.attribute(named: kind) else { continue }
            var arguments = ""
            if case .argumentList(let list) = attribute.arguments { arguments = list.trimmedDescription }
            return "\(RuntimeNames.prefix)Schema.\(kind)(\(arguments))"
        }
        return "nil"
    }

    /// Reads a declaration; nil if it is not that of a persisted property.
    ///
    /// Only language modes before Swift 6 let a macro give accessors to constants.
    init?(_ variable: VariableDeclSyntax, acceptsConstants: Bool) {
        let kind = StoredKind(of: variable)
        guard kind == .persisted || (kind == .constant && acceptsConstants), let binding = variable.bindings.first,
            let pattern = binding.pattern.as(IdentifierPatternSyntax.self)
        else { return nil }
        identifier = pattern.identifier.trimmed
        type = binding.typeAnnotation?.type.trimmed
        initialValue = binding.initializer?.value.trimmed
        attributes = variable.attributes
        isConstant = kind == .constant
        observers = binding.accessorBlock
    }
}

/// How the library treats a variable in the body of a model class.
enum StoredKind: Equatable {
    case persisted
    /// Computed, lazy, or belonging to the class: ignored by the library.
    case untouched
    /// Marked as not persisted.
    case transient
    /// Stored as a plain property because it is bound by a pattern.
    case plain
    /// Declared with `let`.
    case constant
    /// Written in a way that cannot be persisted.
    case several
    case referenceOwnership

    init(of variable: VariableDeclSyntax) {
        let modifiers = variable.modifiers
        if modifiers.contains(.static) || modifiers.contains(.class) || modifiers.contains(.lazy) {
            self = .untouched
        } else if variable.bindings.contains(where: \.isComputed) {
            self = .untouched
        } else if variable.attributes.attribute(named: "Transient") != nil {
            self = .transient
        } else if variable.bindings.contains(where: { !$0.pattern.is(IdentifierPatternSyntax.self) }) {
            self = .plain
        } else if variable.bindings.count > 1 {
            self = .several
        } else if variable.bindingSpecifier.tokenKind == .keyword(.let) {
            self = .constant
        } else if modifiers.contains(.weak) || modifiers.contains(.unowned) {
            self = .referenceOwnership
        } else {
            self = .persisted
        }
    }
}

extension ExprSyntax {
    /// Whether the expression is a member of that name.
    fileprivate func isMember(_ name: String) -> Bool {
        self.as(MemberAccessExprSyntax.self)?.declName.baseName.text == name
    }
}

extension PatternBindingSyntax {
    /// Whether the property has a getter of its own, rather than storage.
    var isComputed: Bool {
        switch accessorBlock?.accessors {
        case .getter: true
        case .accessors(let accessors):
            !accessors.contains {
                [.keyword(.willSet), .keyword(.didSet)].contains($0.accessorSpecifier.tokenKind)
            }
        case nil: false
        }
    }
}
