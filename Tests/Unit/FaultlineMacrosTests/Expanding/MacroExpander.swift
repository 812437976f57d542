/// Expands the macros of a source text: asks the plugin for each, and puts the answers where the compiler would.
struct MacroExpander {
    let source: SourceText
    let plugin: MacroPlugin
    let languageMode: Int?

    private(set) var diagnostics: [String] = []
    /// The extensions of all types: they stand behind everything else.
    private var extensions = ""

    init(source: SourceText, plugin: MacroPlugin, languageMode: Int?) {
        self.source = source
        self.plugin = plugin
        self.languageMode = languageMode
    }

    /// Expands the whole text.
    mutating func expanded() throws -> String {
        let text = try expand(source.all, in: [])
        return text + extensions
    }

    /// Expands all declarations of a range, with the types around it, the innermost first.
    private mutating func expand(_ range: Range<Int>, in outer: [Declaration]) throws -> String {
        var text = ""
        var position = range.lowerBound
        for declaration in source.declarations(in: range) {
            text += source.text(position..<declaration.range.lowerBound)
            position = declaration.range.upperBound
            switch declaration.kind {
            case .condition: text += source.text(declaration.range)
            case .freestandingMacro(let name):
                let expansion = try expandFreestanding(declaration, name: name, in: outer)
                if expansion.isEmpty { text = text.withoutTrailingSpace }
                text += expansion
            case .type(_, let body): text += try expand(declaration, body: body, in: outer)
            case .other: text += try expand(declaration, body: nil, in: outer)
            }
        }
        return text + source.text(position..<range.upperBound)
    }

    private mutating func expand(
        _ declaration: Declaration, body: Range<Int>?, in outer: [Declaration]
    ) throws -> String {
        let indentation = source.indentation(of: declaration)
        var text = try attributes(of: declaration, in: outer)
        if let body {
            let members = try expand(body, in: [declaration] + outer)
            let added = try expansions(in: .member, of: declaration, in: outer).map { "\n\n" + $0 }.joined()
            text += source.text(declaration.start..<body.lowerBound)
            text += added.isEmpty ? members : members.withoutTrailingSpace
            text += added.indented(by: indentation + "    ")
            text += added.isEmpty ? "" : members.trailingSpace
            text += source.text(body.upperBound..<declaration.range.upperBound)
        } else {
            text += source.text(declaration.start..<declaration.range.upperBound)
            let accessors = try expansions(in: .accessor, of: declaration, in: outer)
            text += accessors.map { " " + $0.indented(by: indentation).drop { $0 == " " } }.joined()
        }
        for peer in try expansions(in: .peer, of: declaration, in: outer) {
            text += "\n\n" + peer.indented(by: indentation)
        }
        for addition in try expansions(in: .extension, of: declaration, in: outer) { extensions += "\n\n" + addition }
        return text
    }

    /// The attributes that stay, and those that the macros of the type around a declaration add, each with the space
    /// behind it.
    private mutating func attributes(of declaration: Declaration, in outer: [Declaration]) throws -> String {
        let separator = declaration.attributes.isEmpty ? "\n" + source.indentation(of: declaration) : " "
        var attributes = declaration.attributes.filter { Macro.attached[$0.name] == nil }.map { source.text($0.range) }
        if let parent = outer.first {
            attributes += try expansions(in: .memberAttribute, of: declaration, by: parent, in: outer)
        }
        return attributes.map { $0 + separator }.joined()
    }
}

extension MacroExpander {
    /// Expands the macros at a declaration, or at its parent, in one of their roles.
    private mutating func expansions(
        in role: PluginRequest.MacroRole, of declaration: Declaration, by parent: Declaration? = nil,
        in outer: [Declaration]
    ) throws -> [String] {
        var expansions: [String] = []
        for attribute in (parent ?? declaration).attributes {
            guard let macro = Macro.attached[attribute.name], macro.roles.contains(role) else { continue }
            let conformances = macro.conformances.joined(separator: ", ")
            let expansion = try ask(
                .expandAttachedMacro(
                    macro: macro.name(attribute.name), macroRole: role, discriminator: "",
                    attributeSyntax: syntax(.attribute, attribute.range),
                    declSyntax: syntax(.declaration, declaration.range),
                    parentDeclSyntax: parent.map { syntax(.declaration, $0.range) },
                    extendedTypeSyntax: role == .extension ? name(of: declaration, in: outer) : nil,
                    conformanceListSyntax: conformances.isEmpty
                        ? nil : syntax(.declaration, text: "struct Conformances: \(conformances) {}"),
                    lexicalContext: heads(of: outer), staticBuildConfiguration: buildConfiguration))
            if !expansion.isEmpty { expansions.append(expansion) }
        }
        return expansions
    }

    private mutating func expandFreestanding(
        _ declaration: Declaration, name: String, in outer: [Declaration]
    ) throws -> String {
        guard let macro = Macro.freestanding[name] else { return source.text(declaration.range) }
        return try ask(
            .expandFreestandingMacro(
                macro: macro.name(name), macroRole: .declaration, discriminator: "",
                syntax: syntax(.declaration, declaration.range), lexicalContext: heads(of: outer),
                staticBuildConfiguration: buildConfiguration))
    }

    private mutating func ask(_ request: PluginRequest) throws -> String {
        let expansion = try plugin.expand(request)
        diagnostics += expansion.diagnostics.map { diagnostic in
            let place = source.place(of: diagnostic.position.offset)
            return "\(place.line):\(place.column): \(diagnostic.severity): \(diagnostic.message)"
        }
        return expansion.expandedSource ?? ""
    }

    private func syntax(_ kind: PluginRequest.SyntaxText.Kind, _ range: Range<Int>) -> PluginRequest.SyntaxText {
        syntax(kind, text: source.text(range), at: range.lowerBound)
    }

    private func syntax(
        _ kind: PluginRequest.SyntaxText.Kind, text: String, at offset: Int = 0
    ) -> PluginRequest.SyntaxText {
        let place = source.place(of: offset)
        return PluginRequest.SyntaxText(
            kind: kind, source: text,
            location: .init(
                fileID: "Models/Models.swift", fileName: "Models.swift", offset: offset, line: place.line,
                column: place.column))
    }

    /// The name of a type with those of the types around it.
    private func name(of declaration: Declaration, in outer: [Declaration]) -> PluginRequest.SyntaxText {
        let names = ([declaration] + outer).compactMap { declaration -> String? in
            if case .type(let name, _) = declaration.kind { name } else { nil }
        }
        return syntax(.type, text: names.reversed().joined(separator: "."))
    }

    /// The types around a declaration, each without its members.
    private func heads(of outer: [Declaration]) -> [PluginRequest.SyntaxText] {
        outer.compactMap { declaration in
            guard case .type(_, let body) = declaration.kind else { return nil }
            let head = source.text(declaration.range.lowerBound..<body.lowerBound) + "}"
            return syntax(.declaration, text: head, at: declaration.range.lowerBound)
        }
    }

    /// The settings of the compiler, as swift-syntax's `StaticBuildConfiguration` is encoded; `LARGE` is defined.
    private var buildConfiguration: String? {
        languageMode.map { mode in
            """
            {"customConditions": ["LARGE"], "features": [], "attributes": [], "targetOSs": [],
            "targetArchitectures": [], "targetEnvironments": [], "targetRuntimes": [],
            "targetPointerAuthenticationSchemes": [], "targetObjectFileFormats": [], "targetPointerBitWidth": 64,
            "targetAtomicBitWidths": [], "endianness": "little", "languageMode": {"components": [\(mode)]},
            "compilerVersion": {"components": [6, 3]}}
            """
        }
    }
}

/// A macro of the library, as the library declares it.
private struct Macro {
    let type: String
    let roles: Set<PluginRequest.MacroRole>
    /// The conformances that the type lacks.
    var conformances: [String] = []

    func name(_ name: String) -> PluginRequest.MacroName {
        PluginRequest.MacroName(moduleName: "FaultlineMacros", typeName: type, name: name)
    }

    private static func model(_ conformances: [String]) -> Macro {
        Macro(type: "ModelMacro", roles: [.member, .memberAttribute, .extension], conformances: conformances)
    }

    private static let options = Macro(type: "PropertyOptionsMacro", roles: [.peer])
    private static let groups = Macro(type: "PropertyGroupsMacro", roles: [.declaration])

    /// The library's macros under the names that users write; `Submodel` is `Model` on a class whose parent is a model,
    /// and `ObservableModel` on one that conforms to `Observable` by itself.
    static let attached: [String: Macro] = [
        "Model": .model(["PersistentModel", "Observable", "Sendable"]),
        "Submodel": .model([]),
        "ObservableModel": .model(["PersistentModel", "Sendable"]),
        "_PersistedProperty": Macro(type: "PersistedPropertyMacro", roles: [.accessor, .peer]),
        "_TransformablePersistedProperty": Macro(
            type: "TransformablePersistedPropertyMacro", roles: [.accessor, .peer]),
        "Attribute": options,
        "Relationship": options,
        "Transient": options,
        "ModelActor": Macro(type: "ModelActorMacro", roles: [.member, .extension], conformances: ["ModelActor"]),
    ]

    static let freestanding: [String: Macro] = ["Unique": groups, "Index": groups]
}
