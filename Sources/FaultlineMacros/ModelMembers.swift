internal import SwiftSyntax
internal import SwiftSyntaxBuilder

/// The members that a model class gets.
struct ModelMembers {
    private let name: String
    private let access: String
    private let isFinal: Bool
    private let body: ModelBody
    /// The further argument of the description; empty without one.
    private let originalName: String

    init(of declaration: ClassDeclSyntax, body: ModelBody, originalName: String?) {
        self.originalName = originalName.map { ", originalName: \($0)" } ?? ""
        self.name = declaration.name.trimmed.text
        self.access = declaration.modifiers.witnessAccess
        self.isFinal = declaration.modifiers.contains(.final)
        self.body = body
    }

    private var prefix: String { RuntimeNames.prefix }
    private var core: String { RuntimeNames.core }
    private var required: String { isFinal ? "" : "required " }

    /// The members, in the order in which they appear.
    var all: [DeclSyntax] {
        [
            "nonisolated struct \(raw: RuntimeNames.marker) {\n}",
            modelType, storage, coreAddress, faultInitializer, backingDataInitializer, backingData, schemaMetadata,
        ]
    }

    private var modelType: DeclSyntax {
        """
        \(raw: access)static let \(raw: RuntimeNames.modelType) = \
        \(raw: prefix)ModelType(\(raw: name).self\(raw: originalName))
        """
    }

    /// The compiler's exclusivity checks are off for the core: it is used by one thread at a time, as its object is,
    /// and a getter would spend a quarter of its time on them.
    private var storage: DeclSyntax {
        """
        @\(raw: prefix)Transient @exclusivity(unchecked) private var \(raw: core) = \
        \(raw: prefix)ModelCore(\(raw: name).\(raw: RuntimeNames.modelType))
        """
    }

    private var coreAddress: DeclSyntax {
        """
        \(raw: access)func \(raw: RuntimeNames.coreAddress)() -> UnsafeMutablePointer<\(raw: prefix)ModelCore> {
            withUnsafeMutablePointer(to: &\(raw: core)) {
                $0
            }
        }
        """
    }

    /// One line a property whose marker has no initial value.
    private var markerAssignments: String {
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

    private var schemaMetadata: DeclSyntax {
        let schema = "\(prefix)Schema"
        var entries = body.properties.map { property in
            """
            \(schema).PropertyMetadata(name: \(literal(property.name)), keypath: \\\(name).\(property.identifier.text), \
            defaultValue: \(property.defaultExpression), metadata: \(property.metadataExpression))
            """
        }
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
        let list = entries.isEmpty ? "[]" : "[\n        \(entries.joined(separator: ",\n        ")),\n    ]"
        return """
            \(raw: access)\(raw: isFinal ? "static" : "class") var schemaMetadata: [\(raw: schema).PropertyMetadata] {
                \(raw: list)
            }
            """
    }

    private func literal(_ text: String) -> String {
        StringLiteralExprSyntax(content: text).description
    }
}
