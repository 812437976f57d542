internal import FaultlineLog
internal import FaultlineStore

/// A condition on the rows of an entity, evaluated for objects: on an object's row, or on the row that its unsaved
/// values would make.
final class RowQuestion {
    let filter: RowFilter
    private let targets: [ReferenceTargets]
    private let entity: EntityStorage
    private let context: ContextCore
    private var programs: ProgramCache

    init(_ filter: RowFilter, _ entity: EntityStorage, _ context: ContextCore) {
        self.filter = filter
        self.entity = entity
        self.context = context
        targets = filter.targets
        programs = ProgramCache(filter, entity, context, context.snapshot)
    }

    /// Whether an object satisfies the condition; false for one that is no longer in the store.
    ///
    /// - Throws: The error of reading the object's row, or the targets of its references.
    func isTrue(of handle: ObjectHandle) throws -> Bool {
        guard let draft = handle.core.pointee.draft else {
            guard let row = try context.readingOrThrow({ handle.core.pointee.loadedRow() }) else { return false }
            return try isTrue(of: row)
        }
        return try draft.withRow(entity.layout.table) { try isTrue($0, entity.layout.number) }
    }

    /// Whether a stored row satisfies the condition.
    ///
    /// - Throws: The error of reading a large value, or the targets of its references.
    func isTrue(of row: RowView) throws -> Bool { try isTrue(row, row.table.pointee.number) }

    /// Whether a row that was written in a layout satisfies the condition.
    func isTrue(_ row: RowView, _ layout: UInt16) throws -> Bool {
        let answer = try programs.matches(row, layout)
        for targets in targets { try targets.check() }
        return answer
    }
}

extension ContextCore {
    /// Calls a getter, and throws the error that it could only report.
    ///
    /// A missing object is no error here.
    func readingOrThrow<R>(_ getter: () -> R) throws -> R {
        errors.ofAccess = nil
        let value = getter()
        guard let error = errors.ofAccess, !(SwiftDataError.missingModelContext ~= error) else { return value }
        throw error
    }
}
