internal import FaultlineLog
internal import FaultlineStore

/// The unsaved changes of a context.
///
/// `living`, `changed` and `deleted` hold every object with the flag `inserted`, `changed` or `deleted`, each once.
/// New objects that a migration stage has let go are in `spilled`; `inserted` makes them again.
struct PendingChanges {
    /// New objects in memory: all of them, but for those that a migration stage has let go.
    var living: [ObjectHandle] = [] {
        didSet { lookup.noteCounts(inserted: living.count) }
    }
    /// New objects that a migration stage has let go, because they exceeded their share of its memory; nil for none.
    var spilled: SpilledInserts?
    var changed = HandleList() {
        didSet { lookup.noteCounts(changed: changed.count) }
    }
    var deleted = HandleList() {
        didSet { lookup.noteCounts(deleted: deleted.count) }
    }
    /// Finds objects of these lists.
    var lookup = UnsavedLookup()
    /// How many inserted objects are deleted, and still in the list.
    var deletedInsertCount = 0
    var hasDeletedInserts: Bool { deletedInsertCount > 0 }
    /// Stored objects of one entity, by its ordinal, that the next save deletes without having made them; nil for none.
    var doomedNumbers: (ordinal: Int, numbers: [RecordID])?
    /// Members that joined and left to-many relationships, and links.
    var relationships = PendingRelationships()
    /// Decide conflicts of new objects, and about references to deleted ones, when they are saved.
    var policies = SavePolicies()
    /// New objects whose relationships are not in the context yet, while some are being inserted.
    var arriving: [ObjectHandle] = []
    /// New objects that were inserted while their initializers ran, whose lifecycle code is called once they are complete.
    var unawakened: [ObjectHandle] = []
    /// Forgets a new object whose initializer has failed; nil if no object may have the flag `initializing`.
    ///
    /// A function, because the `deinit` of an object calls it: the state of a context names no operation on it.
    var forgetUnfinished: ((ContextCore, _ number: UInt64, _ values: Draft, EntityHome) -> Void)?
}
