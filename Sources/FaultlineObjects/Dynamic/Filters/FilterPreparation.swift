internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

/// The check of a filter against one entity: finds names and compares types.
struct FilterPreparation {
    private let entity: NamedEntity
    private let context: ContextCore
    /// Whether unsaved changes of the context count.
    private let includesPending: Bool

    init(_ entity: NamedEntity, _ context: ContextCore, includingPendingChanges: Bool) {
        self.entity = entity
        self.context = context
        includesPending = includingPendingChanges
    }

    func condition(_ condition: Filter.Condition) throws -> PreparedFilter.Condition {
        if let key = condition.key, let dot = key.firstIndex(of: ".") {
            return try follow(String(key[..<dot]), condition, rest: String(key[key.index(after: dot)...]))
        }
        switch condition {
        case .compare(let key, let comparison, let value):
            return row(try compare(try property(named: key), comparison, value))
        case .isIn(let key, let values):
            let named = try property(named: key)
            if named.property.isRelationship {
                return row(.or(try values.map { try compare(named, .equal, $0) } + [try noMember(named)]))
            }
            let constants = try values.map { try constant($0, for: named) }
            let isMember = RowFilter.isMember(slot: named.slot, constants.filter { $0 != .null })
            return row(constants.contains(.null) ? .or([.isNil(slot: named.slot), isMember]) : isMember)
        case .contains(let key, let text): return row(.containsText(slot: try textSlot(of: key), text))
        case .beginsWith(let key, let text): return row(.beginsWith(slot: try textSlot(of: key), text))
        case .text(let key, let test): return .text(slot: try textSlot(of: key), test)
        case .members(let key, let quantifier, let inner):
            let named = try property(named: key)
            guard let relationship = named.property.asRelationship, !relationship.isToOneRelationship else {
                throw refusal("\(name(named)) is no to-many relationship: compare it directly.")
            }
            return .members(slot: named.slot, quantifier, try prepared(inner, relationship))
        case .identifiers(let identifiers):
            return .identifiers(Set(identifiers.compactMap { reference(to: $0, entity.home) }))
        case .closure(let isWanted, _): return .closure(isWanted)
        case .all(let parts): return .all(try parts.map(self.condition))
        case .any(let parts): return .any(try parts.map(self.condition))
        case .not(let part): return .not(try self.condition(part))
        }
    }

    private func row(_ filter: RowFilter) -> PreparedFilter.Condition {
        .row(RowQuestion(filter, entity.storage, context))
    }

    // MARK: Names

    private func name(_ named: NamedProperty) -> String { "\(entity.name).\(named.name)" }

    private func property(named key: String) throws -> NamedProperty {
        guard let named = entity.property(named: key) else { throw refusal(entity.unknown(key)) }
        guard !named.property.isTransient else {
            throw refusal("\(name(named)) is ephemeral: rows do not have it. Use Filter.matching.")
        }
        return named
    }

    private func textSlot(of key: String) throws -> Int {
        let named = try property(named: key)
        guard named.property.asAttribute?.kind == .string else { throw refusal("\(name(named)) is not text.") }
        return named.slot
    }

    /// Applies the rest of a condition to the object in a to-one relationship.
    private func follow(_ key: String, _ condition: Filter.Condition, rest: String) throws -> PreparedFilter.Condition {
        let named = try property(named: key)
        guard let relationship = named.property.asRelationship else {
            throw refusal("\(name(named)) is no relationship, so a path ends there.")
        }
        guard relationship.isToOneRelationship else {
            throw refusal(
                "\(name(named)) is a to-many relationship. Use Filter.any(\"\(key)\", where:) or Filter.all.")
        }
        return .target(
            slot: named.slot, try prepared(condition.with(key: rest), relationship), whenNil: condition.isTrueOfNil)
    }

    private func prepared(_ condition: Filter.Condition, _ relationship: Schema.Relationship) throws -> PreparedFilter {
        let preparation = FilterPreparation(
            try context.entity(named: relationship.destination), context, includingPendingChanges: includesPending)
        return PreparedFilter(try preparation.condition(condition), context)
    }

    // MARK: Comparing

    private func compare(
        _ named: NamedProperty, _ comparison: RowComparison, _ value: FilterValue
    ) throws -> RowFilter {
        if let relationship = named.property.asRelationship {
            return try compare(named, relationship, comparison, value)
        }
        let value = try constant(value, for: named)
        guard value == .null else { return .compare(slot: named.slot, comparison, value) }
        switch comparison {
        case .equal: return .isNil(slot: named.slot)
        case .notEqual: return .not(.isNil(slot: named.slot))
        default: return .never
        }
    }

    private func compare(
        _ named: NamedProperty, _ relationship: Schema.Relationship, _ comparison: RowComparison, _ value: FilterValue
    ) throws -> RowFilter {
        try checkToOne(named)
        guard comparison == .equal || comparison == .notEqual else {
            throw refusal("\(name(named)) cannot be compared by order: it is a relationship. Compare an attribute.")
        }
        let isEqual: RowFilter
        switch value {
        case .row(.null): isEqual = isNil(named.slot)
        case .object(let identifier):
            isEqual = try leads(named.slot, to: identifier, try context.entity(named: relationship.destination).home)
        case .row, .unknown:
            throw refusal(
                "\(name(named)) cannot be compared with a value: it is a relationship. Give an objectID, or nil.")
        }
        return comparison == .equal ? isEqual : .not(isEqual)
    }

    private func checkToOne(_ named: NamedProperty) throws {
        guard case .toMany = entity.storage.slots[named.slot] else { return }
        throw refusal(
            "\(name(named)) cannot be compared: it is a to-many relationship. Use Filter.any or Filter.all."
        )
    }

    /// The answer for an empty list of identifiers; refuses a to-many relationship, for an empty list too.
    private func noMember(_ named: NamedProperty) throws -> RowFilter {
        try checkToOne(named)
        return .never
    }

    private func targets(of slot: Int) -> ReferenceTargets? {
        context.targets(of: entity.storage, slot, includingPendingChanges: includesPending)
    }

    /// Nil also if the object in a relationship is missing.
    private func isNil(_ slot: Int) -> RowFilter {
        guard let targets = targets(of: slot) else { return .isNil(slot: slot) }
        return .or([.isNil(slot: slot), .isDangling(slot: slot, targets)])
    }

    private func leads(_ slot: Int, to identifier: PersistentIdentifier, _ destination: EntityHome) throws -> RowFilter
    {
        // An object that is missing here is the target of none.
        guard let reference = reference(to: identifier, destination) else { return .never }
        if let targets = targets(of: slot) {
            let isGone = targets.isGone(reference.bits)
            try targets.check()
            if isGone { return .never }
        }
        return .compare(slot: slot, .equal, .identifier(reference.bits))
    }

    // MARK: Values

    private func constant(_ value: FilterValue, for named: NamedProperty) throws -> RowValue {
        let kind = entity.home.layout.columns[named.slot].kind
        switch value {
        case .row(let value):
            guard let constant = value.converted(for: kind) else { break }
            return constant
        case .object: throw refusal("\(name(named)) cannot be compared with an identifier: it is an attribute.")
        case .unknown(let type): throw refusal("\(name(named)) cannot be compared with a value of type \(type).")
        }
        throw refusal("\(name(named)) cannot be compared exactly with \(value). Give a value of the attribute's type.")
    }

    private func reference(to identifier: PersistentIdentifier, _ home: EntityHome) -> ObjectReference? {
        guard context.homes.isName(identifier.entityName, of: home.entityName) else { return nil }
        if let number = identifier.unsavedNumber { return ObjectReference(number: number, isTemporary: true) }
        return ObjectRegistry(context).storedNumber(of: identifier).map {
            ObjectReference(number: $0, isTemporary: false)
        }
    }

    private func refusal(_ text: String) -> SwiftDataError { SwiftDataError.unsupportedPredicate.explained(text) }
}

extension RowValue {
    /// The value in the form that rows compare with a column of a kind; nil if no exact one exists.
    fileprivate func converted(for kind: ColumnKind) -> RowValue? {
        switch (self, kind) {
        case (.null, _): .null
        // Encoded values of one shape may be written in several ways.
        case (_, .attribute(.codable)): nil
        case (.double(let value), .attribute(.decimal)): StoredDecimal(exactly: value).map { .decimal($0) }
        case (.float(let value), .attribute(.decimal)): StoredDecimal(exactly: Double(value)).map { .decimal($0) }
        case (.decimal(let value), .attribute(.double)), (.decimal(let value), .attribute(.float)):
            value.exactDouble.map { .double($0) }
        case (.decimal(let value), _) where kind.isInteger: value.exactInteger
        default: isComparable(with: kind) ? self : nil
        }
    }
}

extension Filter.Condition {
    /// The property that the condition begins at; nil for conditions without one.
    fileprivate var key: String? {
        switch self {
        case .compare(let key, _, _), .isIn(let key, _), .contains(let key, _), .beginsWith(let key, _),
            .text(let key, _), .members(let key, _, _):
            key
        case .identifiers, .closure, .all, .any, .not: nil
        }
    }

    fileprivate func with(key: String) -> Self {
        switch self {
        case .compare(_, let comparison, let value): .compare(key: key, comparison, value)
        case .isIn(_, let values): .isIn(key: key, values)
        case .contains(_, let text): .contains(key: key, text)
        case .beginsWith(_, let text): .beginsWith(key: key, text)
        case .text(_, let test): .text(key: key, test)
        case .members(_, let quantifier, let inner): .members(key: key, quantifier, inner)
        case .identifiers, .closure, .all, .any, .not: self
        }
    }

    /// The answer if the value is nil because an object on the path is nil.
    fileprivate var isTrueOfNil: Bool {
        switch self {
        case .compare(_, .equal, let value): value.isNil
        case .compare(_, .notEqual, let value): !value.isNil
        case .isIn(_, let values): values.contains { $0.isNil }
        // True for no members.
        case .members(_, let quantifier, _): quantifier == .all
        default: false
        }
    }
}

extension FilterValue {
    fileprivate var isNil: Bool {
        if case .row(.null) = self { true } else { false }
    }
}
