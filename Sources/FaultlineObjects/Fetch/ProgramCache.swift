internal import FaultlineLog
internal import FaultlineStore

/// A filter compiled for each layout that a scan meets.
struct ProgramCache {
    private let filter: RowFilter
    private let entity: EntityStorage
    private let context: ContextCore
    private let snapshot: Snapshot
    private var lastLayout: UInt16?
    private var lastProgram: RowProgram?
    private var programs: [UInt16: RowProgram] = [:]
    private let isAlways: Bool

    /// Starts empty; large values are read in `snapshot` if the answer depends on them.
    init(_ filter: RowFilter, _ entity: EntityStorage, _ context: ContextCore, _ snapshot: Snapshot) {
        self.filter = filter
        self.entity = entity
        self.context = context
        self.snapshot = snapshot
        if case .always = filter { isAlways = true } else { isAlways = false }
    }

    /// Whether a row of the layout satisfies the filter.
    @inline(__always)
    mutating func matches(_ view: RowView, _ layout: UInt16) throws -> Bool {
        if isAlways { return true }
        let program: RowProgram
        if lastLayout == layout, let lastProgram {
            program = lastProgram
        } else {
            program = try self.program(for: layout)
        }
        if !program.mayNeedValues { return program.matches(view) }
        return try program.matches(view) { _, reference in try RowCache(context).blobBytes(reference, snapshot) }
    }

    private mutating func program(for layout: UInt16) throws -> RowProgram {
        let program: RowProgram
        if let known = programs[layout] {
            program = known
        } else {
            program = try context.store.program(filter, layout: layout, entity: entity)
            programs[layout] = program
        }
        lastLayout = layout
        lastProgram = program
        return program
    }
}
