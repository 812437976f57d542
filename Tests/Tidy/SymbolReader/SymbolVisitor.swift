import SourceSymbols
import SwiftSyntax

/// Collects the names of a syntax tree.
final class SymbolVisitor: SyntaxVisitor {
    private(set) var symbols = FileSymbols()

    // MARK: Declarations

    override func visit(_ node: StructDeclSyntax) -> SyntaxVisitorContinueKind {
        note(type: node.name, of: Syntax(node), node.modifiers)
        return .visitChildren
    }

    override func visit(_ node: ClassDeclSyntax) -> SyntaxVisitorContinueKind {
        note(type: node.name, of: Syntax(node), node.modifiers)
        return .visitChildren
    }

    override func visit(_ node: EnumDeclSyntax) -> SyntaxVisitorContinueKind {
        note(type: node.name, of: Syntax(node), node.modifiers)
        return .visitChildren
    }

    override func visit(_ node: ActorDeclSyntax) -> SyntaxVisitorContinueKind {
        note(type: node.name, of: Syntax(node), node.modifiers)
        return .visitChildren
    }

    override func visit(_ node: ProtocolDeclSyntax) -> SyntaxVisitorContinueKind {
        note(type: node.name, of: Syntax(node), node.modifiers)
        return .visitChildren
    }

    override func visit(_ node: TypeAliasDeclSyntax) -> SyntaxVisitorContinueKind {
        note(type: node.name, of: Syntax(node), node.modifiers)
        return .visitChildren
    }

    override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind {
        if case .identifier = node.name.tokenKind { note(node.name, of: Syntax(node), node.modifiers) }
        return .visitChildren
    }

    override func visit(_ node: IdentifierPatternSyntax) -> SyntaxVisitorContinueKind {
        var parent = node.parent
        while let tuple = parent,
            tuple.is(TuplePatternElementSyntax.self) || tuple.is(TuplePatternSyntax.self)
                || tuple.is(TuplePatternElementListSyntax.self)
        {
            parent = tuple.parent
        }
        let variable = parent?.as(PatternBindingSyntax.self)?.parent?.parent?.as(VariableDeclSyntax.self)
        if let variable {
            note(node.identifier, of: Syntax(variable), variable.modifiers)
        } else {
            symbols.bound.insert(node.identifier.name)
        }
        return .skipChildren
    }

    override func visit(_ node: EnumCaseElementSyntax) -> SyntaxVisitorContinueKind {
        symbols.typeMembers.insert(node.name.name)
        return .visitChildren
    }

    /// Records a type: one that is nested in another one is a member of it.
    private func note(type name: TokenSyntax, of declaration: Syntax, _ modifiers: DeclModifierListSyntax) {
        if Self.owner(of: declaration)?.is(SourceFileSyntax.self) == true, !Self.isPrivate(modifiers) {
            symbols.types.insert(name.name)
        } else {
            note(name, of: declaration, modifiers)
        }
    }

    /// Records a member of a type or an extension, or a variable or function of a function or of the file.
    private func note(_ name: TokenSyntax, of declaration: Syntax, _ modifiers: DeclModifierListSyntax) {
        guard let owner = Self.owner(of: declaration), !owner.is(SourceFileSyntax.self) else {
            symbols.bound.insert(name.name)
            return
        }
        let container = owner.as(ExtensionDeclSyntax.self)
        if Self.isPrivate(modifiers) || container.map({ Self.isPrivate($0.modifiers) }) == true {
            symbols.privateMembers.insert(name.name)
        } else if container != nil {
            symbols.extensionMembers.insert(name.name)
        } else {
            symbols.typeMembers.insert(name.name)
        }
    }

    /// The type, extension or file that has a declaration as its member; nil for a declaration within a function.
    private static func owner(of declaration: Syntax) -> Syntax? {
        var parent = declaration.parent
        while let node = parent {
            switch node.kind {
            case .memberBlockItem, .memberBlockItemList, .codeBlockItem, .codeBlockItemList, .ifConfigClause,
                .ifConfigClauseList, .ifConfigDecl:
                parent = node.parent
            case .memberBlock: return node.parent
            case .sourceFile: return node
            default: return nil
            }
        }
        return nil
    }

    private static func isPrivate(_ modifiers: DeclModifierListSyntax) -> Bool {
        modifiers.contains {
            ($0.name.tokenKind == .keyword(.private) || $0.name.tokenKind == .keyword(.fileprivate)) && $0.detail == nil
        }
    }

    override func visit(_ node: FunctionParameterSyntax) -> SyntaxVisitorContinueKind {
        symbols.bound.insert((node.secondName ?? node.firstName).name)
        return .visitChildren
    }

    override func visit(_ node: ClosureParameterSyntax) -> SyntaxVisitorContinueKind {
        symbols.bound.insert((node.secondName ?? node.firstName).name)
        return .visitChildren
    }

    override func visit(_ node: ClosureShorthandParameterSyntax) -> SyntaxVisitorContinueKind {
        symbols.bound.insert(node.name.name)
        return .visitChildren
    }

    override func visit(_ node: ClosureCaptureSyntax) -> SyntaxVisitorContinueKind {
        symbols.bound.insert(node.name.name)
        return .visitChildren
    }

    override func visit(_ node: GenericParameterSyntax) -> SyntaxVisitorContinueKind {
        symbols.bound.insert(node.name.name)
        return .visitChildren
    }

    override func visit(_ node: AssociatedTypeDeclSyntax) -> SyntaxVisitorContinueKind {
        symbols.bound.insert(node.name.name)
        return .visitChildren
    }

    // MARK: Uses

    override func visit(_ node: IdentifierTypeSyntax) -> SyntaxVisitorContinueKind {
        symbols.names.insert(node.name.name)
        return .visitChildren
    }

    override func visit(_ node: MemberTypeSyntax) -> SyntaxVisitorContinueKind {
        symbols.memberNames.insert(node.name.name)
        return .visitChildren
    }

    override func visit(_ node: DeclReferenceExprSyntax) -> SyntaxVisitorContinueKind {
        let isMember =
            node.parent?.as(MemberAccessExprSyntax.self)?.declName.id == node.id
            || node.parent?.is(KeyPathPropertyComponentSyntax.self) == true
        if isMember {
            symbols.memberNames.insert(node.baseName.name)
        } else {
            symbols.names.insert(node.baseName.name)
        }
        return .visitChildren
    }
}

extension TokenSyntax {
    /// The text without backticks.
    fileprivate var name: String { text.filter { $0 != "`" } }
}
