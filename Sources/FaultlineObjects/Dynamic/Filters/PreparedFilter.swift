internal import FaultlineLog
internal import FaultlineStore

/// A filter that was checked against an entity: names are slots, and values have their types.
///
/// Conditions that the entity's rows can answer alone are evaluated on their bytes; the rest on objects.
struct PreparedFilter {
    indirect enum Condition {
        /// Evaluated on the entity's own rows.
        case row(RowQuestion)
        /// Evaluated on the text in a slot; false for nil.
        case text(slot: Int, TextTest)
        /// Evaluated on the object in a to-one slot; `whenNil` is the answer for nil.
        case target(slot: Int, PreparedFilter, whenNil: Bool)
        /// Evaluated on the members of a to-many slot.
        case members(slot: Int, Filter.Quantifier, PreparedFilter)
        case identifiers(Set<ObjectReference>)
        case closure(@Sendable (ManagedObject) throws -> Bool)
        case all([Condition])
        case any([Condition])
        case not(Condition)
    }

    private let condition: Condition
    private let context: ContextCore

    /// - Throws: `unsupportedPredicate` with the entity, the key and the nearest valid name, or the types that do not
    ///   match.
    init(_ filter: Filter, _ entity: NamedEntity, _ context: ContextCore, includingPendingChanges: Bool) throws {
        let preparation = FilterPreparation(entity, context, includingPendingChanges: includingPendingChanges)
        self.init(try preparation.condition(filter.condition), context)
    }

    init(_ condition: Condition, _ context: ContextCore) {
        self.context = context
        self.condition = condition
    }

    // MARK: On bytes

    /// The part of the filter that rows can answer.
    var lowered: LoweredFilter { Self.lowered(condition) }

    private static func lowered(_ condition: Condition) -> LoweredFilter {
        switch condition {
        case .row(let question): return LoweredFilter(filter: question.filter, isExact: true)
        case .identifiers(let references):
            let stored = references.filter { !$0.isTemporary }.map(\.number)
            return LoweredFilter(filter: .always, isExact: true, candidates: Set(stored))
        case .text, .target, .members, .closure: return .unknown
        case .all(let parts): return parts.map(lowered).reduce(.everything) { $0.and($1) }
        case .any(let parts): return parts.map(lowered).reduce(.nothing) { $0.or($1) }
        case .not(let part): return lowered(part).negated
        }
    }

    // MARK: On objects

    /// Whether an object of the entity satisfies the filter, including its unsaved changes.
    func isSatisfied(by object: ObjectHandle) throws -> Bool { try isTrue(condition, of: object) }

    private func isTrue(_ condition: Condition, of object: ObjectHandle) throws -> Bool {
        switch condition {
        case .row(let question): return try question.isTrue(of: object)
        case .text(let slot, let test):
            let value = try context.readingOrThrow {
                object.core.pointee._$isNil(slot)
                    ? nil : object.core.pointee.withBytes(of: slot) { String(decoding: $0, as: UTF8.self) }
            }
            return value.map { test.isTrue(of: $0) } ?? false
        case .target(let slot, let inner, let whenNil):
            let target = try context.readingOrThrow { object.core.pointee.target(slot) }.flatMap(
                ObjectHandle.init(object:))
            return try target.map { try inner.isSatisfied(by: $0) } ?? whenNil
        case .members(let slot, let quantifier, let inner):
            let members = try context.readingOrThrow { object.core.pointee.members(slot) }
            return switch quantifier {
            case .any: try members.contains { try inner.isSatisfied(by: $0) }
            case .all: try members.allSatisfy { try inner.isSatisfied(by: $0) }
            }
        case .identifiers(let references): return references.contains(object.reference)
        case .closure(let isWanted): return try isWanted(.view(of: object))
        case .all(let parts): return try parts.allSatisfy { try isTrue($0, of: object) }
        case .any(let parts): return try parts.contains { try isTrue($0, of: object) }
        case .not(let part): return try !isTrue(part, of: object)
        }
    }
}
