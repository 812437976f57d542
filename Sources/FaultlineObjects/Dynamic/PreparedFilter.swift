internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

/// A filter checked against an entity: names are slots, values fit them.
///
/// What the rows of the entity can answer alone is asked of their bytes; the rest of objects.
final class PreparedFilter {
    indirect enum Condition {
        /// Asked of the entity's own rows.
        case row(RowFilter)
        /// Asked of the object that a to-one slot leads to; `whenNil` is the answer where it leads to none.
        case target(slot: Int, PreparedFilter, whenNil: Bool)
        /// Asked of the members of a to-many slot.
        case members(slot: Int, Filter.Quantifier, PreparedFilter)
        case identifiers(Set<RecordID>)
        case closure(@Sendable (ManagedObject) throws -> Bool)
        case all([Condition])
        case any([Condition])
        case not(Condition)
    }

    private let condition: Condition
    private let home: EntityHome
    private unowned let context: ContextCore
    /// By condition on rows, in the order in which they are met, and by layout.
    private var programs: [RowFilter: ProgramCache] = [:]

    /// - Throws: `unsupportedPredicate` naming entity, key and the name that may be meant, or the types that do not
    ///   fit.
    convenience init(_ filter: Filter, _ home: EntityHome, _ context: ContextCore) throws {
        self.init(try FilterPreparation(home, context).condition(filter.condition), home, context)
    }

    init(_ condition: Condition, _ home: EntityHome, _ context: ContextCore) {
        self.home = home
        self.context = context
        self.condition = condition
    }

    // MARK: On bytes

    /// What of the filter rows can answer.
    var lowered: LoweredFilter { Self.lowered(condition) }

    private static func lowered(_ condition: Condition) -> LoweredFilter {
        switch condition {
        case .row(let filter): return LoweredFilter(filter: filter, isExact: true)
        case .identifiers(let numbers): return LoweredFilter(filter: .always, isExact: true, candidates: numbers)
        case .target, .members, .closure: return .unknown
        case .all(let parts): return parts.map(lowered).reduce(.everything) { $0.and($1) }
        case .any(let parts): return parts.map(lowered).reduce(.nothing) { $0.or($1) }
        case .not(let part): return lowered(part).negated
        }
    }

    // MARK: On objects

    /// Whether an object of the entity satisfies the filter, its unsaved changes counted.
    func isSatisfied(by object: ManagedObject) throws -> Bool { try isTrue(condition, of: object) }

    private func isTrue(_ condition: Condition, of object: ManagedObject) throws -> Bool {
        switch condition {
        case .row(let filter): return try isTrue(filter, of: ObjectHandle(object))
        case .target(let slot, let inner, let whenNil):
            let target: ManagedObject? = object._$coreAddress().pointee.value(slot)
            return try target.map { try inner.isSatisfied(by: $0) } ?? whenNil
        case .members(let slot, let quantifier, let inner):
            let members: [ManagedObject] = object._$coreAddress().pointee.value(slot)
            return switch quantifier {
            case .any: try members.contains { try inner.isSatisfied(by: $0) }
            case .all: try members.allSatisfy { try inner.isSatisfied(by: $0) }
            }
        case .identifiers(let numbers):
            let core = ObjectHandle(object).core
            return !core.pointee.has(.temporary) && numbers.contains(core.pointee.number)
        case .closure(let isWanted): return try isWanted(object)
        case .all(let parts): return try parts.allSatisfy { try isTrue($0, of: object) }
        case .any(let parts): return try parts.contains { try isTrue($0, of: object) }
        case .not(let part): return try !isTrue(part, of: object)
        }
    }

    /// Asks the object's row, or the one that its unsaved values would make.
    private func isTrue(_ filter: RowFilter, of handle: ObjectHandle) throws -> Bool {
        guard let entity = home.entity else { return false }
        guard let draft = handle.core.pointee.draft else {
            guard let row = handle.core.pointee.loadedRow() else { return false }
            return try isTrue(filter, row, row.table.pointee.number, entity)
        }
        let byteCount = draft.encodedByteCount
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: max(byteCount, 1), alignment: 8)
        defer { bytes.deallocate() }
        let written = draft.encode(into: bytes)
        let row = RowView(
            trusted: bytes, byteCount: written, table: entity.layout.table, hasExtension: draft.hasExtension)
        return try isTrue(filter, row, entity.layout.number, entity)
    }

    private func isTrue(_ filter: RowFilter, _ row: RowView, _ layout: UInt16, _ entity: EntityStorage) throws -> Bool {
        var cache = programs[filter] ?? ProgramCache(filter, entity, context, context.snapshot)
        defer { programs[filter] = cache }
        return try cache.matches(row, layout)
    }
}
