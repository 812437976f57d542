internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

/// The check of a filter against one entity: finds names and compares types.
struct FilterPreparation {
    private let home: EntityHome
    private let context: ContextCore
    private let entity: Schema.Entity

    init(_ home: EntityHome, _ context: ContextCore) throws {
        self.home = home
        self.context = context
        guard let entity = home.type?.entity, home.entity != nil else {
            throw SwiftDataError.unknownSchema.explained("\(home.entityName) has no table in this store.")
        }
        self.entity = entity
    }

    func condition(_ condition: Filter.Condition) throws -> PreparedFilter.Condition {
        if let key = condition.key, let dot = key.firstIndex(of: ".") {
            return try follow(String(key[..<dot]), condition, rest: String(key[key.index(after: dot)...]))
        }
        switch condition {
        case .compare(let key, let comparison, let value):
            let slot = try slot(of: key)
            let value = try constant(value, for: slot, key)
            guard value == .null else { return .row(.compare(slot: slot, comparison, value)) }
            guard comparison == .equal || comparison == .notEqual else { return .row(.never) }
            let isNil = isNil(slot)
            return .row(comparison == .equal ? isNil : .not(isNil))
        case .isIn(let key, let values):
            let slot = try slot(of: key)
            let constants = try values.map { try constant($0, for: slot, key) }
            let isMember = RowFilter.isMember(slot: slot, constants.filter { $0 != .null })
            return .row(constants.contains(.null) ? .or([isNil(slot), isMember]) : isMember)
        case .contains(let key, let text): return .row(.containsText(slot: try textSlot(of: key), text))
        case .beginsWith(let key, let text): return .row(.beginsWith(slot: try textSlot(of: key), text))
        case .members(let key, let quantifier, let inner):
            let slot = try slot(of: key)
            guard let relationship = entity.properties[slot] as? Schema.Relationship,
                !relationship.isToOneRelationship
            else { throw refusal("\(entity.name).\(key) is no to-many relationship: compare it directly.") }
            return .members(slot: slot, quantifier, try prepared(inner, relationship))
        case .identifiers(let identifiers):
            return .identifiers(Set(identifiers.compactMap { number(of: $0, home.entityName) }))
        case .closure(let isWanted): return .closure(isWanted)
        case .all(let parts): return .all(try parts.map(self.condition))
        case .any(let parts): return .any(try parts.map(self.condition))
        case .not(let part): return .not(try self.condition(part))
        }
    }

    // MARK: Names

    private func slot(of key: String) throws -> Int {
        guard let slot = home.type?.slotsByName[key] else { throw refusal(NearestName.unknown(key, among: entity)) }
        return slot
    }

    private func textSlot(of key: String) throws -> Int {
        let slot = try slot(of: key)
        guard (entity.properties[slot] as? Schema.Attribute)?.kind == .string else {
            throw refusal("\(entity.name).\(key) is not text.")
        }
        return slot
    }

    /// Asks the rest of a condition of what a to-one relationship leads to.
    private func follow(_ name: String, _ condition: Filter.Condition, rest: String) throws -> PreparedFilter.Condition
    {
        let slot = try slot(of: name)
        guard let relationship = entity.properties[slot] as? Schema.Relationship else {
            throw refusal("\(entity.name).\(name) is no relationship, so a path ends there.")
        }
        guard relationship.isToOneRelationship else {
            throw refusal(
                "\(entity.name).\(name) is a to-many relationship. Use Filter.any(\"\(name)\", where:) or Filter.all.")
        }
        return .target(
            slot: slot, try prepared(condition.with(key: rest), relationship), whenNil: condition.isTrueOfNil)
    }

    private func prepared(_ condition: Filter.Condition, _ relationship: Schema.Relationship) throws -> PreparedFilter {
        guard let destination = context.homes.first(where: { $0.entityName == relationship.destination }) else {
            throw refusal("\(entity.name).\(relationship.name) leads to \(relationship.destination), which is unknown.")
        }
        let inner = try FilterPreparation(destination, context).condition(condition)
        return PreparedFilter(inner, destination, context)
    }

    // MARK: Values

    /// Nil also where the object that a relationship led to is gone.
    private func isNil(_ slot: Int) -> RowFilter {
        guard let entity = home.entity,
            let targets = context.targets(of: entity, slot, includingPendingChanges: true)
        else { return .isNil(slot: slot) }
        return .or([.isNil(slot: slot), .isDangling(slot: slot, targets)])
    }

    private func constant(_ value: FilterValue, for slot: Int, _ key: String) throws -> RowValue {
        let kind = home.layout.columns[slot].kind
        let constant: RowValue
        switch value {
        case .row(let value): constant = value
        case .object(let identifier):
            let destination = (entity.properties[slot] as? Schema.Relationship)?.destination
            // An object that is in no store is nobody's target.
            constant = .identifier(destination.flatMap { number(of: identifier, $0) } ?? .max)
        case .unknown(let type): throw refusal("\(entity.name).\(key) cannot be compared with a value of type \(type).")
        }
        guard constant.isComparable(with: kind), kind != .link || constant == .null else {
            throw refusal("\(entity.name).\(key) cannot be compared with \(constant).")
        }
        return constant
    }

    private func number(of identifier: PersistentIdentifier, _ entityName: String) -> UInt64? {
        guard !identifier.isTemporary, identifier.storeID == context.store.log.storeID,
            identifier.entityName == entityName
        else { return nil }
        return identifier.number
    }

    private func refusal(_ text: String) -> SwiftDataError { SwiftDataError.unsupportedPredicate.explained(text) }
}

extension Filter.Condition {
    /// The property that the condition begins at; nil for those that have none.
    fileprivate var key: String? {
        switch self {
        case .compare(let key, _, _), .isIn(let key, _), .contains(let key, _), .beginsWith(let key, _),
            .members(let key, _, _):
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
        case .members(_, let quantifier, let inner): .members(key: key, quantifier, inner)
        case .identifiers, .closure, .all, .any, .not: self
        }
    }

    /// The answer where the value asked for is nil because an object on the way to it is.
    fileprivate var isTrueOfNil: Bool {
        switch self {
        case .compare(_, .equal, let value): value.isNil
        case .compare(_, .notEqual, let value): !value.isNil
        case .isIn(_, let values): values.contains { $0.isNil }
        // None of no members.
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
