internal import SwiftIfConfig
internal import SwiftSyntax
internal import SwiftSyntaxMacros

/// The body of a class that is marked as a model, read once for all parts of the expansion.
struct ModelBody {
    /// The properties to persist, in source order: the position of each is its slot.
    private(set) var properties: [PersistedProperty] = []
    /// Stored properties that are not persisted, with their kinds.
    private(set) var others: [(VariableDeclSyntax, StoredKind)] = []
    /// The arguments of `#Index` and `#Unique`.
    private(set) var indexes: [MacroExpansionDeclSyntax] = []
    private(set) var constraints: [MacroExpansionDeclSyntax] = []
    /// The arguments of `#TextIndex`.
    private(set) var textIndexes: [MacroExpansionDeclSyntax] = []
    private(set) var initializers: [InitializerDeclSyntax] = []
    private(set) var hasInitializer = false
    /// Conditions around relevant members whose outcome the compiler did not report.
    private(set) var unsettledConditions: [IfConfigDeclSyntax] = []

    /// Whether the language mode lets a macro give accessors to constants.
    private let acceptsConstants: Bool

    init(of declaration: some DeclGroupSyntax, in context: some MacroExpansionContext) {
        acceptsConstants = context.buildConfiguration.map { $0.languageVersion < VersionTuple(6) } ?? false
        read(declaration.memberBlock.members, in: context)
    }

    private mutating func read(_ members: MemberBlockItemListSyntax, in context: some MacroExpansionContext) {
        for member in members.map(\.decl) {
            if let variable = member.as(VariableDeclSyntax.self) {
                read(variable)
            } else if let macro = member.as(MacroExpansionDeclSyntax.self) {
                switch macro.macroName.text {
                case "Index": indexes.append(macro)
                case "Unique": constraints.append(macro)
                case "TextIndex": textIndexes.append(macro)
                default: break
                }
            } else if let initializer = member.as(InitializerDeclSyntax.self) {
                hasInitializer = true
                initializers.append(initializer)
            } else if let condition = member.as(IfConfigDeclSyntax.self) {
                read(condition, in: context)
            }
        }
    }

    private mutating func read(_ variable: VariableDeclSyntax) {
        let kind = StoredKind(of: variable)
        if let property = PersistedProperty(variable, acceptsConstants: acceptsConstants) {
            properties.append(property)
        } else if kind != .untouched {
            others.append((variable, kind))
        }
    }

    private mutating func read(_ condition: IfConfigDeclSyntax, in context: some MacroExpansionContext) {
        if let configuration = context.buildConfiguration {
            if case .decls(let members) = condition.activeClause(in: configuration).clause?.elements {
                read(members, in: context)
            }
            return
        }
        for clause in condition.clauses {
            guard case .decls(let members) = clause.elements else { continue }
            var inner = ModelBody(acceptsConstants: acceptsConstants)
            inner.read(members, in: context)
            hasInitializer = hasInitializer || inner.hasInitializer
            let declarations = inner.indexes + inner.constraints + inner.textIndexes
            if !inner.properties.isEmpty || !declarations.isEmpty {
                unsettledConditions.append(condition)
                return
            }
            others += inner.others
        }
    }

    private init(acceptsConstants: Bool) {
        self.acceptsConstants = acceptsConstants
    }

    /// The property that a member declares, with its slot; nil for all other members.
    func slot(of member: some DeclSyntaxProtocol) -> (slot: Int, property: PersistedProperty)? {
        guard let variable = member.as(VariableDeclSyntax.self),
            let property = PersistedProperty(variable, acceptsConstants: acceptsConstants),
            let slot = properties.firstIndex(where: { $0.name == property.name })
        else { return nil }
        return (slot, property)
    }
}
