internal import FaultlineLog
internal import FaultlineObjects

/// The objects of a mapped stage, and the pairs of old and new ones, as its `MigrationManager` uses them.
protocol MappedObjects: AnyObject {
    var mappings: [ResolvedMapping] { get }
    /// Reads the old version.
    var source: StageContext { get }
    /// Writes the new version.
    var target: StageContext { get }
    /// Stored pairs that were visited so far.
    var visitedPairCount: Int { get }

    func associate(
        _ old: ManagedObject, with new: ManagedObject, _ mapping: ResolvedMapping, isNew: Bool
    ) throws
    func destinations(of old: RecordID, by place: Int, limit: Int) throws -> [ManagedObject]
    /// Calls `body` with the old objects of a new one, by a mapping, one at a time; it returns false to stop.
    func forEachSource(of new: ManagedObject, by place: Int, _ body: (ManagedObject) throws -> Bool) throws
    /// Calls `body` with the saved new objects of a mapping whose places lie between two, each with an old object.
    func forEachDestination(
        of mapping: ResolvedMapping, after last: RecordID, through end: RecordID,
        _ body: (_ new: ManagedObject, _ old: ManagedObject, _ place: RecordID) throws -> Void
    ) throws
    /// The relationships of a mapping's new objects that are set on objects.
    func relationships(of mapping: ResolvedMapping) -> [ResolvedMapping.Relation]
    /// Whether a new object of a mapping may have more than one old one.
    func mayMerge(_ place: Int) -> Bool
    /// Allows a new object to take over a large value.
    func move(_ blob: UInt64, of entityName: String)
    /// Saves during a call of a policy.
    func flushAmidCall() throws
}

extension MappedObjects {
    /// All new objects of an old one, by a mapping.
    func destinations(of old: RecordID, by place: Int) throws -> [ManagedObject] {
        try destinations(of: old, by: place, limit: .max)
    }

    /// All old objects of a new one, by a mapping.
    func sources(of new: ManagedObject, by place: Int) throws -> [ManagedObject] {
        var found: [ManagedObject] = []
        try forEachSource(of: new, by: place) {
            found.append($0)
            return true
        }
        return found
    }

    /// The first of the old objects of a new one, by a mapping.
    func firstSource(of new: ManagedObject, by place: Int) throws -> ManagedObject? {
        var first: ManagedObject?
        try forEachSource(of: new, by: place) {
            first = $0
            return false
        }
        return first
    }

    /// Calls `body` with all saved new objects of a mapping.
    func forEachDestination(of mapping: ResolvedMapping, _ body: (_ new: ManagedObject) throws -> Void) throws {
        try forEachDestination(of: mapping, after: 0, through: Limits.recordIDMax) { new, _, _ in try body(new) }
    }
}
