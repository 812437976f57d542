/// Requests to the compiler plugin, as far as the macros here need them.
///
/// They follow `HostToPluginMessage` in swift-syntax: names of cases and labels are the keys of the JSON.
enum PluginRequest: Encodable {
    case getCapability(capability: Capability)
    case expandFreestandingMacro(
        macro: MacroName, macroRole: MacroRole, discriminator: String, syntax: SyntaxText,
        lexicalContext: [SyntaxText], staticBuildConfiguration: String?)
    case expandAttachedMacro(
        macro: MacroName, macroRole: MacroRole, discriminator: String, attributeSyntax: SyntaxText,
        declSyntax: SyntaxText, parentDeclSyntax: SyntaxText?, extendedTypeSyntax: SyntaxText?,
        conformanceListSyntax: SyntaxText?, lexicalContext: [SyntaxText], staticBuildConfiguration: String?)

    struct Capability: Encodable {
        let protocolVersion: Int
    }

    struct MacroName: Encodable {
        let moduleName: String
        let typeName: String
        let name: String
    }

    enum MacroRole: String, Encodable {
        case member, memberAttribute, `extension`, accessor, peer, declaration, expression
    }

    /// A piece of the source, and its place.
    struct SyntaxText: Encodable {
        let kind: Kind
        let source: String
        let location: Location

        enum Kind: String, Encodable {
            case declaration, attribute, type, expression
        }

        struct Location: Encodable {
            let fileID: String
            let fileName: String
            let offset: Int
            let line: Int
            let column: Int
        }
    }
}

/// The plugin's answer to a request for an expansion.
struct PluginExpansion: Decodable {
    /// The text to insert; nil where the macro threw an error, which is then one of the diagnostics.
    let expandedSource: String?
    let diagnostics: [Diagnostic]

    struct Diagnostic: Decodable {
        let message: String
        let severity: String
        let position: Position

        struct Position: Decodable {
            /// Bytes before it in the file.
            let offset: Int
        }
    }
}

/// The messages of the plugin that hold an expansion.
struct PluginResponse: Decodable {
    let expandMacroResult: PluginExpansion
}
