internal import FaultlineLog
internal import FaultlineStore

/// The result of the finished steps of a migration.
struct StepProgress {
    /// The state that the last step has made; it is invisible before the switch.
    var current: StoredCatalog
    /// Layouts that the switch will register.
    var newLayouts: [RowLayout] = []
    /// Catalog records of data to delete after the switch.
    var leftBehindCount: Int
    /// Blobs from here on are the migration's; nil before it writes anything.
    var firstBlob: UInt64?
    /// Tables that stages wrote; those that the last schema does not use are dropped with the switch.
    var intermediateTables: Set<UInt16> = []
    /// Tables of entities that a step drops without reading their objects: the blobs of their rows are dropped with
    /// them.
    var unreadTables: Set<UInt16> = []
    /// The conditions on stored objects of hierarchies, which the switch checks again.
    var hierarchyChecks: [HierarchyCheck] = []

    /// Begins at the current state, or at the one that the stopped step began with.
    init(stored: StoredCatalog, resumed: MigrationRecord?) {
        current = stored.under(stored.schema, stored.map)
        if let resumed {
            current = stored.under(resumed.sourceSchema, resumed.sourceMap)
            // The numbers come from a file: tables of the engine are left out.
            intermediateTables = Set(resumed.intermediateTables.filter { $0 >= TableID.firstEntity })
            unreadTables = Set(resumed.unreadTables.filter { $0 >= TableID.firstEntity })
        }
        leftBehindCount = resumed?.leftBehindCount ?? 0
        firstBlob = resumed?.firstBlob
    }

    /// Records the tables that a step leaves behind; `current` is still the state before it.
    mutating func note(_ plan: EntityMapPlan, of step: MigrationSteps.Step) {
        let read = step.readEntities
        let dropped = Set(plan.tablesToDrop)
        for entity in current.map.entities where dropped.contains(entity.table) && !read.contains(entity.name) {
            unreadTables.insert(entity.table)
        }
    }
}
