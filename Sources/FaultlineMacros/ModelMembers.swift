internal import SwiftSyntax
internal import SwiftSyntaxBuilder

/// The members that a model class gets.
struct ModelMembers {
    let name: String
    let access: String
    /// The modifier of members that subclasses override.
    let overridable: String
    let isFinal: Bool
    /// Whether the class may inherit from another one, which its accessors allow for.
    private let mayInherit: Bool
    /// The superclass; nil for a root class.
    private let parent: String?
    private let body: ModelBody
    /// The further argument of the description; empty without one.
    let originalName: String

    init(of declaration: ClassDeclSyntax, body: ModelBody, isRoot: Bool, originalName: String?) {
        self.overridable = declaration.modifiers.overridableAccess
        self.mayInherit = declaration.mayInherit
        self.parent =
            isRoot ? nil : declaration.inheritanceClause?.inheritedTypes.first?.type.trimmedDescription
        self.originalName = originalName.map { ", originalName: \($0)" } ?? ""
        self.name = declaration.name.trimmed.text
        self.access = declaration.modifiers.witnessAccess
        self.isFinal = declaration.modifiers.contains(.final)
        self.body = body
    }

    var prefix: String { RuntimeNames.prefix }
    var core: String { RuntimeNames.core }
    var required: String { isFinal ? "" : "required " }

    /// The members, in the order in which they appear.
    var all: [DeclSyntax] {
        if let parent { return HeirMembers(self, parent).all }
        return [
            "nonisolated struct \(raw: RuntimeNames.marker) {\n}"
        ] + modelType + [
            storage, coreAddress, faultInitializer, backingDataInitializer, backingData,
        ] + schemaMetadata + (mayInherit ? ownAccess : [])
    }

    /// Subclasses have a description of their own.
    private var modelType: [DeclSyntax] {
        guard isFinal else {
            return [
                """
                nonisolated \(raw: overridable)class var \(raw: RuntimeNames.modelType): \(raw: prefix)ModelType {
                    \(raw: RuntimeNames.ownType)
                }
                """,
                """
                private static let \(raw: RuntimeNames.ownType) = \
                \(raw: prefix)ModelType(\(raw: name).self\(raw: originalName))
                """,
                "\(raw: access)typealias \(raw: RuntimeNames.root) = \(raw: name)",
            ]
        }
        return [
            """
            \(raw: access)static let \(raw: RuntimeNames.modelType) = \
            \(raw: prefix)ModelType(\(raw: name).self\(raw: originalName))
            """
        ]
    }

    /// The way of the accessors to the core, which is the object's own in a root class.
    private var ownAccess: [DeclSyntax] {
        [
            """
            private final var \(raw: RuntimeNames.values): \(raw: prefix)ModelCore {
                @inline(__always) _read {
                    yield \(raw: core)
                }
                @inline(__always) _modify {
                    yield &\(raw: core)
                }
            }
            """,
            """
            @inline(__always) private final func \(raw: RuntimeNames.slot)(_ slot: Int) -> Int {
                slot
            }
            """,
        ]
    }

    /// The compiler's exclusivity checks are off for the core: it is used by one thread at a time, as its object is,
    /// and a getter would spend a quarter of its time on them.
    private var storage: DeclSyntax {
        """
        @\(raw: prefix)Transient @exclusivity(unchecked) private var \(raw: core) = \
        \(raw: prefix)ModelCore(\(raw: name).\(raw: isFinal ? RuntimeNames.modelType : RuntimeNames.ownType))
        """
    }

    private var coreAddress: DeclSyntax {
        """
        \(raw: isFinal ? access : overridable)func \(raw: RuntimeNames.coreAddress)() -> UnsafeMutablePointer<\(raw: prefix)ModelCore> {
            withUnsafeMutablePointer(to: &\(raw: core)) {
                $0
            }
        }
        """
    }

    /// One line a property whose marker has no initial value.
    var markerAssignments: String {
        body.properties.filter { !$0.hasInitialValue }
            .map { "\($0.markerName) = \(RuntimeNames.marker)()" }
            .joined(separator: "\n    ")
    }

    private var faultInitializer: DeclSyntax {
        """
        \(raw: access)\(raw: required)init(\(raw: RuntimeNames.faultLabel) token: \(raw: prefix)FaultToken) {
            \(raw: markerAssignments)
        }
        """
    }

    private var backingDataInitializer: DeclSyntax {
        let lines = [markerAssignments, "\(core).adopt(backingData)"].filter { !$0.isEmpty }
        return """
            @inline(never)
            \(raw: access)\(raw: required)init(backingData: any \(raw: prefix)BackingData<\(raw: name)>) {
                \(raw: lines.joined(separator: "\n    "))
            }
            """
    }

    private var backingData: DeclSyntax {
        """
        \(raw: access)var persistentBackingData: any \(raw: prefix)BackingData<\(raw: name)> {
            get {
                \(raw: core).backingData(of: self)
            }
            set {
                \(raw: core).adopt(newValue)
            }
        }
        """
    }

    /// The metadata of the class's own properties, with key paths of a type.
    func propertyEntries(of type: String) -> [String] {
        body.properties.map { property in
            """
            \(prefix)Schema.PropertyMetadata(name: \(literal(property.name)), \
            keypath: \\\(type).\(property.identifier.text), \
            defaultValue: \(property.defaultExpression), metadata: \(property.metadataExpression))
            """
        }
    }

    /// The metadata of the class's own indexes and constraints.
    var groupEntries: [String] {
        let schema = "\(prefix)Schema"
        var entries: [String] = []
        for (macros, kind) in [
            (body.indexes, "Index"), (body.constraints, "Unique"), (body.textIndexes, "TextIndex"),
        ] {
            entries += macros.map { macro in
                let generic = macro.genericArgumentClause?.trimmedDescription ?? "<\(name)>"
                return """
                    \(schema).PropertyMetadata(name: "\(schema).\(kind)", keypath: \\\(schema).encodingVersion, \
                    defaultValue: nil, metadata: \(schema).\(kind)\(generic)(\(macro.arguments.trimmedDescription)))
                    """
            }
        }
        return entries
    }

    func list(_ entries: [String]) -> String {
        entries.isEmpty ? "[]" : "[\n        \(entries.joined(separator: ",\n        ")),\n    ]"
    }

    private var schemaMetadata: [DeclSyntax] {
        guard !isFinal else {
            return [
                """
                \(raw: access)static var schemaMetadata: [\(raw: prefix)Schema.PropertyMetadata] {
                    \(raw: list(propertyEntries(of: name) + groupEntries))
                }
                """
            ]
        }
        return [
            """
            \(raw: overridable)class var schemaMetadata: [\(raw: prefix)Schema.PropertyMetadata] {
                \(raw: RuntimeNames.fields)(of: \(raw: name).self)\(raw: groupEntries.isEmpty ? "" : " + \(list(groupEntries))")
            }
            """,
            fields(adding: ""),
        ]
    }

    /// The metadata of all properties, with the key paths that a subclass has of them.
    func fields(adding inherited: String) -> DeclSyntax {
        """
        \(raw: access)static func \(raw: RuntimeNames.fields)<_$Heir: \(raw: name)>(\
        of type: _$Heir.Type) -> [\(raw: prefix)Schema.PropertyMetadata] {
            \(raw: inherited)\(raw: list(propertyEntries(of: "_$Heir")))
        }
        """
    }

    private func literal(_ text: String) -> String {
        StringLiteralExprSyntax(content: text).description
    }
}
