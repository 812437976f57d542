internal import FaultlineModel
internal import FaultlineObjects
internal import Foundation

/// Turns a condition on old objects into a filter.
struct FilterLowering {
    let entity: Schema.Entity
    let schema: Schema
    private(set) var problems: [MappingProblem] = []

    init(_ entity: Schema.Entity, in schema: Schema) {
        self.entity = entity
        self.schema = schema
    }

    /// The filter; nil for all objects.
    ///
    /// It is wrong if there are problems.
    mutating func filter(_ predicate: MappingPredicate) -> Filter? {
        switch predicate {
        case .constant(let isTrue): return isTrue ? nil : Self.none
        case .not(let inner):
            guard let filter = self.filter(inner) else { return Self.none }
            return !filter
        case .all(let parts):
            let filters = parts.compactMap { self.filter($0) }
            return filters.isEmpty ? nil : Self.joined(filters[...]) { $0 && $1 }
        case .any(let parts):
            let filters = parts.map { self.filter($0) }
            guard !filters.contains(where: { $0 == nil }) else { return nil }
            return Self.joined(filters.compactMap { $0 }[...]) { $0 || $1 }
        case .comparison(let comparison): return self.comparison(comparison)
        case .unreadable(let text):
            problems.append(MappingProblem(.unexpressed, text, "The condition cannot be read."))
            return nil
        }
    }

    private static var none: Filter { .objectID(in: []) }

    /// Joins the halves, so that the depth is the logarithm of the number of filters.
    private static func joined(_ filters: ArraySlice<Filter>, _ join: (Filter, Filter) -> Filter) -> Filter {
        guard filters.count > 1 else { return filters.first ?? none }
        let middle = filters.startIndex + filters.count / 2
        return join(joined(filters[..<middle], join), joined(filters[middle...], join))
    }

    // MARK: Comparisons

    private static let reversed: [MappingPredicate.Comparison.Sign: MappingPredicate.Comparison.Sign] = [
        .equal: .equal, .notEqual: .notEqual, .less: .greater, .lessOrEqual: .greaterOrEqual, .greater: .less,
        .greaterOrEqual: .lessOrEqual,
    ]

    private mutating func refuse(_ comparison: MappingPredicate.Comparison, _ reason: String) -> Filter? {
        problems.append(MappingProblem(.unexpressed, "\(comparison)", reason))
        return nil
    }

    private mutating func comparison(_ comparison: MappingPredicate.Comparison) -> Filter? {
        var comparison = comparison
        if case .constant = comparison.left, let sign = Self.reversed[comparison.sign] {
            (comparison.left, comparison.right) = (comparison.right, comparison.left)
            comparison.sign = sign
        }
        guard case .keyPath(let operand, let path) = comparison.left, operand == nil || operand == .object else {
            return refuse(comparison, "A condition compares a property with a constant.")
        }
        if let problem = ExpressionCheck.problem(path, of: entity, in: schema) {
            problems.append(problem)
            return nil
        }
        guard !path.contains("@") else {
            return refuse(comparison, "A condition has no operators of collections.")
        }
        guard let quantifier = comparison.quantifier else { return filter(comparison, path, entity) }
        return members(comparison, path, quantifier)
    }

    /// A comparison of members of a to-many relationship, which begins the path.
    private mutating func members(
        _ comparison: MappingPredicate.Comparison, _ path: String,
        _ quantifier: MappingPredicate.Comparison.Quantifier
    ) -> Filter? {
        let names = path.split(separator: ".", maxSplits: 1).map(String.init)
        guard let relationship = entity.relationship(named: names[0]), !relationship.isToOneRelationship,
            names.count == 2, let destination = schema.entitiesByName[relationship.destination]
        else {
            return refuse(
                comparison, "\(quantifier.rawValue) stands before a to-many relationship and an attribute after it.")
        }
        guard let filter = self.filter(comparison, names[1], destination) else { return nil }
        return switch quantifier {
        case .any: Filter.any(names[0], where: filter)
        case .all: Filter.all(names[0], where: filter)
        case .notAny: !Filter.any(names[0], where: filter)
        }
    }

    /// The kind of the stored attribute at the end of a path over to-one relationships.
    private func kind(_ path: String, of entity: Schema.Entity) -> AttributeKind? {
        var entity = entity
        var names = path.split(separator: ".").map(String.init)[...]
        while let name = names.popFirst() {
            guard let property = entity.properties.first(where: { $0.name == name }) else { return nil }
            // Calls on the value, and members of a composite attribute, are no columns of rows.
            if let attribute = property.asAttribute {
                return names.isEmpty && !attribute.isTransient ? attribute.kind : nil
            }
            guard let relationship = property.asRelationship, relationship.isToOneRelationship,
                let next = schema.entitiesByName[relationship.destination]
            else { return nil }
            entity = next
        }
        return nil
    }

    private mutating func filter(
        _ comparison: MappingPredicate.Comparison, _ path: String, _ entity: Schema.Entity
    ) -> Filter? {
        let key = Filter.key(path)
        let isNil = comparison.right == .constant(nil)
        guard let kind = kind(path, of: entity) else {
            guard isNil, entity.relationship(named: path)?.isToOneRelationship == true else {
                return refuse(
                    comparison, "The path does not lead to a stored attribute over to-one relationships.")
            }
            switch comparison.sign {
            // A to-one relationship that leads nowhere.
            case .equal: return key == nil
            case .notEqual: return key != nil
            default: return refuse(comparison, "A relationship is compared with nil by == and != only.")
            }
        }
        switch comparison.sign {
        case .between, .isIn: return listed(comparison, key, kind)
        case .contains, .beginsWith, .endsWith, .like, .matches: return text(comparison, key, kind)
        default: break
        }
        if isNil, comparison.sign == .equal { return key == nil }
        if isNil, comparison.sign == .notEqual { return key != nil }
        guard case .constant(let value?) = comparison.right, let constant = kind.constant(value) else {
            return refuse(comparison, "The right side is no constant of the attribute's type.")
        }
        if let text = constant as? String, let options = options(comparison) {
            switch comparison.sign {
            case .equal: return key.isEqual(to: text, options)
            case .notEqual: return !key.isEqual(to: text, options)
            default: return refuse(comparison, "The order of texts has no options.")
            }
        }
        return switch comparison.sign {
        case .equal: key == constant
        case .notEqual: key != constant
        case .less: key < constant
        case .lessOrEqual: key <= constant
        case .greater: key > constant
        default: key >= constant
        }
    }

    private func options(_ comparison: MappingPredicate.Comparison) -> Filter.TextOptions? {
        var options: Filter.TextOptions = []
        if comparison.ignoresCase { options.insert(.ignoringCase) }
        if comparison.ignoresDiacritics { options.insert(.ignoringDiacritics) }
        return options.isEmpty ? nil : options
    }

    private mutating func listed(
        _ comparison: MappingPredicate.Comparison, _ key: Filter.Key, _ kind: AttributeKind
    ) -> Filter? {
        guard case .list(let members) = comparison.right else {
            return refuse(comparison, "The right side is no list of constants.")
        }
        let values = members.compactMap { member -> (any Sendable)? in
            guard case .constant(let value?) = member else { return nil }
            return kind.constant(value)
        }
        guard values.count == members.count, options(comparison) == nil else {
            return refuse(comparison, "The list has another member than constants of the attribute's type.")
        }
        if comparison.sign == .isIn { return key.isIn(values) }
        guard values.count == 2 else { return refuse(comparison, "BETWEEN has two bounds.") }
        return key >= values[0] && key <= values[1]
    }

    private mutating func text(
        _ comparison: MappingPredicate.Comparison, _ key: Filter.Key, _ kind: AttributeKind
    ) -> Filter? {
        guard kind == .string, case .constant(.text(let text)?) = comparison.right else {
            return refuse(comparison, "It compares a text with a constant text only.")
        }
        let options = options(comparison) ?? []
        switch comparison.sign {
        case .contains: return key.contains(text, options)
        case .beginsWith: return key.beginsWith(text, options)
        case .endsWith: return key.endsWith(text, options)
        case .like:
            let inner = text.drop { $0 == "*" }.reversed().drop { $0 == "*" }.reversed()
            guard !inner.contains(where: { "*?\\".contains($0) }) else {
                return like(text, comparison)
            }
            let part = String(inner)
            return switch (text.hasPrefix("*"), text.hasSuffix("*")) {
            case (true, true): key.contains(part, options)
            case (true, false): key.endsWith(part, options)
            case (false, true): key.beginsWith(part, options)
            case (false, false): options.isEmpty ? key == part : key.isEqual(to: part, options)
            }
        default: return matching(text, comparison)
        }
    }

    /// A regular expression that the whole text matches: objects are made to evaluate it.
    private mutating func matching(_ pattern: String, _ comparison: MappingPredicate.Comparison) -> Filter? {
        guard
            let pattern = TextPattern(
                pattern, ignoresCase: comparison.ignoresCase, ignoresDiacritics: comparison.ignoresDiacritics)
        else { return refuse(comparison, "The pattern is no regular expression.") }
        return tested(comparison, pattern.matches)
    }

    /// A pattern with `*` and `?`: objects are made to evaluate it.
    private mutating func like(_ text: String, _ comparison: MappingPredicate.Comparison) -> Filter? {
        let pattern = LikePattern(
            text, ignoresCase: comparison.ignoresCase, ignoresDiacritics: comparison.ignoresDiacritics)
        return tested(comparison, pattern.matches)
    }

    /// The objects whose text passes a test; the text of the condition stands in the mark.
    private mutating func tested(
        _ comparison: MappingPredicate.Comparison, _ passes: @escaping @Sendable (String) throws -> Bool
    ) -> Filter? {
        guard case .keyPath(_, let path) = comparison.left, comparison.quantifier == nil else {
            return refuse(comparison, "Patterns do not stand for members of a relationship.")
        }
        return .matching(as: "\(comparison)") { object in
            guard let text = object.FaultlineObjects::value(forKeyPath: path) as? String else { return false }
            return try passes(text)
        }
    }
}
