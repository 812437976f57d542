package import SwiftSyntax
internal import SwiftSyntaxBuilder
package import SwiftSyntaxMacros

/// Puts a persisted property's value into its object's core, under the slot that is the attribute's argument.
package enum PersistedPropertyMacro: AccessorMacro, PeerMacro {
    /// Keeps the layout, as `ModelMacro` does.
    package static var formatMode: FormatMode { .disabled }

    package static func expansion(
        of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] {
        accessors(of: node, declaration: declaration, methods: .plain)
    }

    package static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        marker(of: declaration)
    }
}

/// Like `PersistedPropertyMacro`, for values of any type, which go through a transformer.
package enum TransformablePersistedPropertyMacro: AccessorMacro, PeerMacro {
    /// Keeps the layout, as `ModelMacro` does.
    package static var formatMode: FormatMode { .disabled }

    package static func expansion(
        of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] {
        accessors(of: node, declaration: declaration, methods: .transformable)
    }

    package static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        marker(of: declaration)
    }
}

/// The core's methods behind the accessors of a property.
private struct CoreMethods {
    let initialize: String
    let get: String
    let set: String
    /// Whether arrays are changed in place, so that an `append` to a relationship leaves its other members alone.
    var changesInPlace = false

    static let plain = CoreMethods(
        initialize: "initialize", get: "value", set: "setValue", changesInPlace: true)
    static let ephemeral = CoreMethods(
        initialize: "initializeEphemeral", get: "ephemeralValue", set: "setEphemeralValue")
    static let transformable = CoreMethods(
        initialize: "initializeTransformable", get: "transformableValue", set: "setTransformableValue")
}

private func accessors(
    of node: AttributeSyntax, declaration: some DeclSyntaxProtocol, methods: CoreMethods
) -> [AccessorDeclSyntax] {
    guard let property = persistedProperty(declaration),
        case .argumentList(let arguments) = node.arguments, let slot = arguments.first?.expression.trimmed
    else { return [] }
    let mayInherit = arguments.contains { $0.label?.text == "mayInherit" }
    let methods = property.isEphemeral ? .ephemeral : methods
    // The class's code may set ephemeral values of a fetched object: in front of the accesses, which exclude all others.
    let awaking = property.isEphemeral ? "\(RuntimeNames.awaking)(self); return " : ""
    let fallback = property.isEphemeral ? property.fallbackExpression.map { ", orElse: \($0)" } ?? "" : ""
    // In a class that may inherit from a model, the core belongs to the root class, and the slot of a property is known
    // when the object is. In a root class the compiler inlines everything that this goes through.
    let core = mayInherit ? RuntimeNames.values : RuntimeNames.core
    let place = mayInherit ? "\(RuntimeNames.slot)(\(slot))" : "\(slot)"
    let accessors: [AccessorDeclSyntax] = [
        """
            @storageRestrictions(accesses: \(raw: RuntimeNames.core), initializes: \(raw: property.markerName))
            init(initialValue) {
                \(raw: initialization(methods, slot, mayInherit))
                \(raw: property.markerName) = \(raw: RuntimeNames.marker)()
            }
        """,
        """
            get {
                \(raw: awaking)\(raw: core).\(raw: methods.get)(\(raw: place)\(raw: fallback))
            }
        """,
        """
            set {
                \(raw: awaking)\(raw: core).\(raw: methods.set)(\(raw: place), to: newValue)
            }
        """,
    ]
    if property.isConstant { return accessors.dropLast() }
    guard let type = property.type, type.isArray, methods.changesInPlace else { return accessors }
    return accessors + [
        """
            _modify {
                var value: \(type) = \(raw: core).beginChangeInPlace(\(raw: place))
                defer {
                    \(raw: core).endChangeInPlace(\(raw: place), &value)
                }
                yield &value
            }
        """
    ]
}

/// The statement that gives a property its first value: a subclass has no core yet, and keeps the value until then.
private func initialization(_ methods: CoreMethods, _ slot: ExprSyntax, _ mayInherit: Bool) -> String {
    guard mayInherit else { return "\(RuntimeNames.core).\(methods.initialize)(\(slot), to: initialValue)" }
    return """
        \(RuntimeNames.core).stage(\(slot)) {
                    $0.\(methods.initialize)($1, to: initialValue)
                }
        """
}

private func persistedProperty(_ declaration: some DeclSyntaxProtocol) -> PersistedProperty? {
    declaration.as(VariableDeclSyntax.self).flatMap { PersistedProperty($0, acceptsConstants: true) }
}

/// The empty property that the compiler's check of initializers is about.
///
/// It is never optional: an optional marker would take a byte of every object. A property that may be left out has a
/// marker with an initial value instead.
private func marker(of declaration: some DeclSyntaxProtocol) -> [DeclSyntax] {
    guard let property = persistedProperty(declaration) else { return [] }
    let type = RuntimeNames.marker
    let initialValue = property.hasInitialValue ? " = \(type)()" : ""
    return [
        """
        @\(raw: RuntimeNames.prefix)Transient private var \(raw: property.markerName): \(raw: type)\(raw: initialValue)
        """
    ]
}
