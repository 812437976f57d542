internal import CFaultline
internal import FaultlineDisk
internal import FaultlineLog
internal import FaultlineModel
package import FaultlineStore

/// The state behind a `ModelContext`: its snapshot, its objects, its loaded rows, its unsaved changes.
///
/// The work on that state belongs to types that are made on the stack for one call, and hold nothing but the context:
/// `ObjectRegistry` finds and makes objects, `RowCache` loads their rows, `FetchRunner` fetches, `RelationshipEditor`
/// relates, `Save` writes.
///
/// Everything that reads the store does so between `beginReading` and `endReading`: in between the log may take the
/// snapshot of a context that has nothing to save, and of one whose pin has outlived its limits.
///
/// Objects keep it alive; the user's `ModelContext` is only the handle. It is used by one thread at a time, like the
/// context itself; what other threads may do (release objects, take memory back) goes through the lock.
///
/// Invariants:
/// - at most one registered object a stored row, and any other object of that row is an alias of it;
/// - `inserted`, `changed` and `deleted` hold every object with the flag of that name, each once;
/// - a row in the arena is that of the snapshot, or, where `state.hasOlderRows`, of an older one.
// Safe because a context is confined to one thread at a time, and what others touch is under the lock.
package final class ContextCore: @unchecked Sendable {
    package let store: RowStore
    let lock = EngineLock()
    /// Holds the state of the store that the context reads.
    let hold: SnapshotHold
    /// How the context's objects and rows stand to that state.
    @exclusivity(unchecked) var state: ReadState
    /// The homes of the entities.
    let homes = EntityHomes()
    /// Changed under the lock; read without it where `RowArena` says so.
    @exclusivity(unchecked) var rows = RowArena()
    /// Takes a record that does not fit into the arena's block; used without the lock, by the context's thread alone.
    @exclusivity(unchecked) var recordBuffer = RecordBuffer()
    /// Writes the key of the value that a fetch looks up.
    @exclusivity(unchecked) var keyWriter = KeyWriter()
    let tally: ReadTally
    /// The reports about its reads.
    @exclusivity(unchecked) package var reports = ReadReports()

    /// The changes that the next save writes.
    @exclusivity(unchecked) var pending = PendingChanges()
    /// Members of to-many relationships, as their properties return them.
    @exclusivity(unchecked) var memberArrays = MemberArrays()
    /// The observers of this context's objects.
    @exclusivity(unchecked) var observations = ObservationList()
    /// Where saves differ from those of an application.
    @exclusivity(unchecked) package var rules: SaveRules
    /// The save that is under way.
    @exclusivity(unchecked) package var saving = SavingState()
    /// In a closure of a custom migration stage: the state that its contexts share.
    @exclusivity(unchecked) var stage: StageSession?
    /// The user's context.
    @exclusivity(unchecked) var owner = ContextOwner()
    /// The changes for the user's undo manager; nil if there is none.
    @exclusivity(unchecked) var undo: (any UndoSource)?
    /// Errors of calls that cannot throw.
    @exclusivity(unchecked) var errors = ContextErrors()
    /// Original values, kept to detect conflicts with other saves; nil under the default policy.
    @exclusivity(unchecked) var conflicts: ConflictWatch?
    /// Writes saves into the store's history.
    @exclusivity(unchecked) var history: SaveHistory
    /// The data store of the user's that the container is in front of; nil for a store of this library.
    @exclusivity(unchecked) var link: (any DataStoreLink)?

    package init(
        store: RowStore, types: [ModelType], isReadOnly: Bool = false, tallies: ReadTallies? = nil,
        recordsHistory: Bool = false
    ) {
        self.store = store
        tally = ReadTally(in: tallies)
        rules = SaveRules(isReadOnly: isReadOnly)
        history = SaveHistory(isRecorded: recordsHistory)
        let gate = ContextGate()
        state = ReadState(gate)
        hold = store.log.hold("context") { gate.isFree }
        state.isOutdated = !store.canRead(store.log.snapshot())
        homes.fill(self, store, types)
        tally.begin()
        gate.attach(self)
        rows.reclaiming = store.log.budget.register(.rows) { byteCount in gate.reclaim(byteCount) }
    }

    deinit {
        store.log.release(hold)
        state.gate.detach()
        rows.reclaiming = nil
        tally.end()
        let byteCount = homes.all.reduce(rows.byteCount) { $0 + $1.recentRows.byteCount }
        if byteCount > 0 { store.log.budget.release(byteCount, for: .rows) }
    }

    package var loadedByteCount: Int { rows.byteCount }

    /// The reads of this context so far; `cacheBytes` is 0.
    package var counters: FaultCounters { tally.counters - reports.countedBefore }

    func setUserContext(_ context: ModelContext) { owner.context = context }

    /// The user's context; nil once it is gone, with its container where it is the main one.
    var userContext: ModelContext? { owner.context ?? owner.remake?() }

    package var userContextIfAlive: ModelContext? { owner.context }

    /// Says that the user's context comes and goes while its container lives, and the changes stay.
    package func keepChanges(_ remake: @escaping () -> ModelContext?) { owner.remake = remake }

    /// The home of a class's objects; nil if the container's schema lacks its entity.
    @inline(__always)
    func home(of type: ModelType) -> EntityHome? { homes.home(of: type) }

    /// The home of an entity's objects; nil if the container's schema lacks the entity.
    func home(named name: String) -> EntityHome? { homes.home(named: name) }

    /// Objects whose original values are kept; nil if no watch was requested.
    package var keptOriginalCount: Int? { conflicts?.originals.count }

    /// The policy for conflicts with other saves.
    var mergePolicy: MergePolicy { conflicts?.policy ?? .mergeByPropertyObjectTrump }

    /// Objects of this context with a property that was read inside observation tracking; some of them may be gone.
    package var observedCount: Int { observations.count }

    // MARK: Unsaved changes

    /// Retains an object whose first change is about to be made.
    func registerChange(_ address: UInt, _ home: EntityHome) {
        noteUnsaved()
        guard !owner.isAbandoned, let pointer = UnsafeMutableRawPointer(bitPattern: address), let type = home.type,
            let core = UnsafeMutablePointer<ModelCore>(bitPattern: address + UInt(type.coreOffset))
        else { return }
        pending.changed.append(
            ObjectHandle(object: Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue(), core: core))
    }

    /// Objects that were visited to find unsaved ones.
    package var unsavedExamined: Int { pending.lookup.examinedCount }

    /// Stored objects that are alive: tests compare a bounded walk with it.
    package var livingObjectCount: Int {
        lock.lock()
        defer { lock.unlock() }
        return homes.all.reduce(0) { $0 + $1.identities.count }
    }
}
