internal import CFaultline
internal import FaultlineDisk
package import FaultlineLog
internal import FaultlineModel
package import FaultlineStore

/// The implementation of a `ModelContext`: its snapshot, its objects, its loaded rows, its unsaved changes.
///
/// All reads of the store lie between `beginReading` and `endReading`: outside of these, the log may take the snapshot
/// of a context that has nothing to save, and of one whose pin has exceeded its limits.
///
/// Objects keep it alive; the user's `ModelContext` is only the handle. It is used by one thread at a time, like the
/// context itself; other threads (which release objects, or reclaim memory) take the lock.
///
/// Invariants:
/// - at most one registered object a stored row, and any other object of that row is an alias of it;
/// - `inserted`, `changed` and `deleted` hold every object with the flag of that name, each once;
/// - a row in the arena is that of the snapshot, or, where `hasOlderRows`, of an older one.
// Safe because a context is confined to one thread at a time, and state that other threads touch is under the lock.
package final class ContextCore: @unchecked Sendable {
    package let store: RowStore
    let lock = EngineLock()
    private let hold: SnapshotHold
    /// The label of the context's pin; nil if it is not pinned.
    private(set) var pinLabel: String?
    /// Indexed by the entity's ordinal.
    @exclusivity(unchecked) private(set) var homes: [EntityHome] = []
    @exclusivity(unchecked) private var homesByType: [ObjectIdentifier: EntityHome] = [:]
    @exclusivity(unchecked) private var homesByName: [String: EntityHome] = [:]
    /// The entity that was looked up by name last: code that walks over identifiers repeats the same one.
    @exclusivity(unchecked) private var lastNamed: (name: String, home: EntityHome)?
    @exclusivity(unchecked) private var lastType: (type: ObjectIdentifier, home: EntityHome)?
    /// Whether rows may be older than the snapshot, because the snapshot at which they were loaded was taken.
    @exclusivity(unchecked) private(set) var hasOlderRows = false
    /// Whether the state has changed while objects were alive: another save may have deleted an unread one.
    @exclusivity(unchecked) private(set) var mayHaveDeletedFaults = false
    /// How often all rows were released: a walk that holds objects detects by it that they may have changed.
    @exclusivity(unchecked) private(set) var forgettingCount = 0
    /// Changed under the lock; read without it where `RowArena` says so.
    @exclusivity(unchecked) var rows = RowArena()
    private var reclaiming: MemoryBudget.Registration?
    private let gate = ContextGate()
    let tally = ReadTally()
    /// Relationship index entries walked, by reads and saves together: shows the cost of large collections.
    package var membersWalked = 0
    /// Members of to-many relationships that were collected as objects, over all accesses.
    package var membersCollected = 0
    /// How often objects were listed by an index or a predicate's identifiers: shows that a walk lists them once.
    @exclusivity(unchecked) package var candidateListings = 0
    private let tallies: ReadTallies?

    @exclusivity(unchecked) var inserted: [ObjectHandle] = [] {
        didSet { unsavedLookup.noteCounts(inserted: inserted.count) }
    }
    /// Whether an inserted object was deleted since the last save.
    var hasDeletedInserts = false
    @exclusivity(unchecked) var changed = HandleList() {
        didSet { unsavedLookup.noteCounts(changed: changed.count) }
    }
    @exclusivity(unchecked) var deleted = HandleList() {
        didSet { unsavedLookup.noteCounts(deleted: deleted.count) }
    }
    /// Finds objects of these lists.
    @exclusivity(unchecked) var unsavedLookup = UnsavedLookup()
    /// Stored objects of one entity, by its ordinal, that the next save deletes although no objects were made for them;
    /// nil for none.
    var doomedNumbers: (ordinal: Int, numbers: [RecordID])?
    /// How many objects of each entity the save has deleted because of `doomedNumbers`.
    var doomedCounts: [String: Int] = [:]
    /// The effects of deleting an object, by ordinal of its entity.
    private(set) lazy var deletionRules = store.storage.entities.map { DeletionRules($0, store.storage.entities) }
    /// The objects that the current save deletes.
    @exclusivity(unchecked) var deletion: DeletionWalk?
    @exclusivity(unchecked) var relationships = PendingRelationships()
    /// Members of to-many relationships, as their properties return them.
    @exclusivity(unchecked) var memberArrays = MemberArrays()
    /// The observers of this context's objects.
    var observations = ObservationList()
    var author: String?
    let isReadOnly: Bool
    /// In a migration: returns whether a new object may take over a value of the old object, which is allowed once.
    package var mayMoveBlob: ((UInt64) -> Bool)?
    /// In a migration: whether a new object must not replace the stored one that has its unique values.
    @exclusivity(unchecked) package var refusesUpserts = false
    /// In a migration: whether the stage alone saves, in batches, with its own records in the same transaction.
    @exclusivity(unchecked) package var isSavedByStage = false
    /// In a migration: whether objects are saved before they are related, so that relationship rules are checked
    /// afterwards.
    @exclusivity(unchecked) package var defersRelationshipRules = false
    /// Whether minimum numbers of members are checked by other code later: members come in several saves.
    @exclusivity(unchecked) package var defersLeastCounts = false
    /// In a migration: whether members that join a collection from their own side keep the positions that they were
    /// given, or, without given positions, stand in the order of their numbers.
    @exclusivity(unchecked) package var keepsGivenOrder = false
    /// Decides conflicts of new objects and references when they are saved.
    @exclusivity(unchecked) var policies = SavePolicies()
    /// In a migration: the numbers that new objects will get, by temporary number.
    @exclusivity(unchecked) var chosenNumbers: [UInt64: RecordID] = [:]
    /// Why the store refused the last save, if one of its objects was the cause.
    package var refusal: StoreError.Code?
    /// In a migration: tables that the old state shares, so that they must not be written before the switch.
    @exclusivity(unchecked) package var sharedTables: Set<TableID> = []
    /// Called with the way in which rows are found; nil except for `explain`.
    var accessNote: AccessNote?
    /// In a closure of a custom migration stage: the state that its contexts share.
    var stage: StageSession?
    /// In a streamed stage: whether other contexts save objects that come before this context's own, and this one has
    /// read nothing since; then it catches up before it reads.
    @exclusivity(unchecked) private var isBehind = false
    /// Waits until the other contexts have saved.
    private var waitForOthers: (() -> Void)?
    /// In a streamed stage: called with the bytes of a large value before memory is allocated for it.
    @exclusivity(unchecked) package var willHold: ((_ byteCount: Int) -> Void)?
    /// In a migration: inserted objects whose bytes were counted, and the bytes.
    var countedInserted = 0
    var countedBytes = 0
    /// New objects whose relationships are not in the context yet, during an insertion.
    @exclusivity(unchecked) var arriving: [ObjectHandle] = []
    /// New objects that were inserted while their initializers ran.
    @exclusivity(unchecked) var initializing = InitializingObjects()
    /// Whether the user's context is gone: nothing will be saved any more, so no object is retained for its changes.
    @exclusivity(unchecked) var isAbandoned = false
    /// Errors of calls that could not throw: the next save throws them.
    @exclusivity(unchecked) var refusals = Refusals()
    /// The last error that a getter or setter reported.
    var getterError: (any Error)?
    /// The account that loads are entered in; nil for none.
    @exclusivity(unchecked) var accounting: FaultAccounting?
    /// Whether code is called for the objects of some entity.
    @exclusivity(unchecked) var hasLifecycles = false
    /// The code that the current save is calling.
    var savePhase = SavePhase.none
    /// The objects of the batch that this context is running.
    var selection: BatchSelection?
    /// Saves unsaved changes automatically; nil if the context has no queue for that.
    @exclusivity(unchecked) var autosave: Autosave?
    /// The objects that the current save writes; nil unless an observer wants them.
    var savedIdentifiers: SavedIdentifiers?
    /// Original values, kept to detect conflicts with other saves; nil under the default policy.
    @exclusivity(unchecked) var conflicts: ConflictWatch?
    /// Whether saves are written into the store's history.
    let recordsHistory: Bool
    /// Collects the changes of saves; made with the first one.
    private(set) lazy var historyWriter = HistoryWriter(store)
    /// Records of the history that were read, over all fetches: shows that a token is found by search.
    package var historyRecordsRead = 0
    /// Called with damage that a getter met.
    var errorHandler: (@Sendable (any Error) -> Void)?
    private weak var livingContext: ModelContext?
    /// Makes the user's context again if it is gone and its container is not: that of a container's main context.
    @exclusivity(unchecked) var remakeUserContext: (() -> ModelContext?)?
    private var buffer = RecordBuffer()

    package init(
        store: RowStore, types: [ModelType], isReadOnly: Bool = false, tallies: ReadTallies? = nil,
        recordsHistory: Bool = false
    ) {
        self.store = store
        self.recordsHistory = recordsHistory
        self.tallies = tallies
        self.isReadOnly = isReadOnly
        hold = store.log.hold("context") { [gate] in gate.isFree }
        let typesByName = Dictionary(types.map { ($0.entityName, $0) }) { first, _ in first }
        homes = store.storage.entities.map {
            EntityHome(context: self, entity: $0, type: typesByName[$0.name], storeID: store.log.storeID)
        }
        for home in homes {
            homesByName[home.entityName] = home
            if let type = home.type { homesByType[ObjectIdentifier(type)] = home }
            if home.lifecycle != nil { hasLifecycles = true }
        }
        tallies?.begin(tally)
        gate.attach(self)
        reclaiming = store.log.budget.register(.rows) { [gate] byteCount in gate.reclaim(byteCount) }
    }

    deinit {
        store.log.release(hold)
        gate.detach()
        reclaiming = nil
        tallies?.end(tally)
        if rows.byteCount > 0 { store.log.budget.release(rows.byteCount, for: .rows) }
    }

    package var loadedByteCount: Int { rows.byteCount }

    /// The reads of this context so far; `cacheBytes` is 0.
    package var counters: FaultCounters { tally.counters }

    func setUserContext(_ context: ModelContext) { livingContext = context }

    /// The user's context; nil once it is gone, and, for the main context, its container too.
    var userContext: ModelContext? { livingContext ?? remakeUserContext?() }

    package var userContextIfAlive: ModelContext? { livingContext }

    /// Allows the user's context to go and be made again while its container lives; unsaved changes stay.
    package func keepChanges(_ remake: @escaping () -> ModelContext?) { remakeUserContext = remake }

    // MARK: Snapshot

    /// The state that the context reads, between `beginReading` and `endReading`.
    @inline(__always)
    package var snapshot: Snapshot {
        if isBehind { catchUp() }
        return hold.snapshot
    }

    /// Begins to read the store; may be nested, each needs its `endReading`.
    ///
    /// A context whose snapshot was taken continues at the newest state. Loaded rows stay until the context is next
    /// moved on: an object does not change between the reads of its properties.
    ///
    /// - Throws: `.expired` if the context is pinned to a state that has exceeded its limits; then `endReading` must
    ///   not be called.
    @inline(__always)
    package func beginReading() throws(LogError) {
        if try !hold.begin() { replaceTakenSnapshot() }
    }

    /// Ends the section that `beginReading` began.
    @inline(__always)
    package func endReading() { hold.end() }

    @inline(never)
    private func replaceTakenSnapshot() {
        let newest = store.log.snapshot()
        // Rows were loaded at the snapshot that was taken.
        if newest.sequence != hold.sequence { if hasNoObjects { forgetRows() } else { hasOlderRows = true } }
        put(newest)
    }

    /// Records that no row is older than the snapshot.
    func noteRowsForgotten() {
        hasOlderRows = false
        forgettingCount &+= 1
    }

    /// Records that there are unsaved changes, so that the context's snapshot stays.
    @inline(__always)
    func noteUnsaved() {
        gate.note(isUnsaved: true)
        if let autosave { autosave.noteUnsaved() }
    }

    func noteSaved() { gate.note(isUnsaved: false) }

    /// Moves on to the newest state, unless the context is pinned.
    ///
    /// If there were other saves, loaded rows are released: all objects without unsaved changes show one state of the
    /// store.
    func moveToNewest() {
        guard pinLabel == nil else { return }
        do throws(LogError) { try store.log.follow() } catch { report(error) }
        let newest = store.log.snapshot()
        let old = snapshot
        let isFromUnknown = hasOlderRows
        if isFromUnknown || newest.sequence != old.sequence { forgetRows() }
        put(newest)
        if isFromUnknown { noteMoveFromUnknown() } else { noteMove(from: old) }
    }

    /// Moves on to the state that a save of this context made.
    ///
    /// A save that had nothing to write made no state: then the newest one comes from another save.
    ///
    /// - Returns: Notifies observers, if more has changed since the state before than that save has changed.
    func moveToSaved(_ saved: Snapshot, _ sequence: UInt64) -> (() -> Void)? {
        let old = snapshot
        let isFromUnknown = hasOlderRows
        put(saved)
        if saved.sequence == old.sequence + 1, saved.sequence == sequence, !isFromUnknown { return nil }
        forgetRows()
        return { [self] in if isFromUnknown { noteMoveFromUnknown() } else { noteMove(from: old) } }
    }

    func moveTo(_ snapshot: Snapshot) { put(snapshot) }

    private func put(_ snapshot: Snapshot) {
        if snapshot.sequence != hold.sequence {
            memberArrays.removeAll()
            mayHaveDeletedFaults = mayHaveDeletedFaults || !hasNoObjects
        }
        hold.put(snapshot)
    }

    /// In a streamed stage: lets other contexts save the objects before those that this context is about to take.
    ///
    /// The context reads nothing from the store before they have saved; objects that it has returned then show the
    /// saved values.
    ///
    /// - Parameter waitForOthers: Returns when they have saved; called once, by the first read.
    package func fallBehind(_ waitForOthers: @escaping () -> Void) {
        forgetRows()
        self.waitForOthers = waitForOthers
        isBehind = true
    }

    /// Waits for the other contexts, if there are any, and moves to the state that they have saved.
    @inline(never)
    package func catchUp() {
        guard isBehind else { return }
        isBehind = false
        let wait = waitForOthers
        waitForOthers = nil
        wait?()
        do throws(LogError) { try beginReading() } catch { return report(error) }
        moveToNewest()
        endReading()
    }

    /// Stays at the state that the context reads, within limits.
    func pin(_ limits: PinLimits, _ label: String) throws(LogError) {
        try beginReading()
        defer { endReading() }
        pinLabel = label
        store.log.pin(hold, limits, label)
        forgetOlderRows()
    }

    /// Follows the store again: the next fetch moves to the newest state, and so does this call if the pin has expired.
    func unpin() {
        guard pinLabel != nil else { return }
        pinLabel = nil
        store.log.pin(hold, nil, "context")
        guard hold.forgetExpiry() else { return }
        // Objects are alive: the move must not wait for a getter.
        do throws(LogError) { try beginReading() } catch { return }
        forgetRows()
        endReading()
        noteMoveFromUnknown()
    }

    /// Releases rows that are older than the snapshot, so that all objects without unsaved changes show its state.
    private func forgetOlderRows() {
        guard hasOlderRows else { return }
        forgetRows()
        noteMoveFromUnknown()
    }

    // MARK: Homes

    /// The home of a class's objects; nil if the container's schema lacks its entity.
    @inline(__always)
    func home(of type: ModelType) -> EntityHome? {
        if let lastType, lastType.type == ObjectIdentifier(type) { return lastType.home }
        return findHome(of: type)
    }

    private func findHome(of type: ModelType) -> EntityHome? {
        guard let home = homesByType[ObjectIdentifier(type)] else { return nil }
        lastType = (ObjectIdentifier(type), home)
        return home
    }

    /// The home of an entity's objects; nil if the container's schema lacks the entity.
    func home(named name: String) -> EntityHome? {
        if let lastNamed, lastNamed.name == name { return lastNamed.home }
        guard let home = homesByName[name] else { return nil }
        lastNamed = (name, home)
        return home
    }

    func require<T: PersistentModel>(_ type: T.Type) throws -> EntityHome {
        if let home = home(of: type._$modelType) { return home }
        if type == ManagedObject.self {
            throw SwiftDataError.unknownSchema.explained(
                "A FetchDescriptor does not say which entity's ManagedObjects are wanted. Use a FetchRequest.")
        }
        throw SwiftDataError.unknownSchema.explained(
            "\(String(reflecting: type)) is not among the models of this container. Add it to the container's schema.")
    }

    // MARK: Objects

    /// The registered object of a number, retained; nil if none is alive.
    func registeredObject(_ number: RecordID, _ home: EntityHome) -> AnyObject? {
        lock.lock()
        defer { lock.unlock() }
        return livingObject(home.identities.address(of: number))
    }

    /// Called under the lock.
    @inline(__always)
    func livingObject(_ address: UInt) -> AnyObject? {
        guard let pointer = UnsafeMutableRawPointer(bitPattern: address), fl_try_retain(pointer) else { return nil }
        return Unmanaged<AnyObject>.fromOpaque(pointer).takeRetainedValue()
    }

    /// The one object of a stored row: the registered one, or a new fault.
    func object<T: PersistentModel>(_ number: RecordID, _ home: EntityHome, as type: T.Type) -> T {
        if let metadata = T._$modelType.bareMetadata {
            // Safe because the identity map of a home holds objects of its class only.
            return unsafeDowncast(bareObject(number, home, metadata), to: T.self)
        }
        if let found = registeredObject(number, home) {
            // Safe because the identity map of a home holds objects of its class only.
            return unsafeDowncast(found, to: T.self)
        }
        return makeFault(number, home, row: .none, as: type)
    }

    /// The same for an entity whose class is known only at run time.
    func anyObject(_ number: RecordID, _ home: EntityHome) -> AnyObject? {
        if let metadata = home.type?.bareMetadata { return bareObject(number, home, metadata) }
        if let found = registeredObject(number, home) { return found }
        guard let type = home.type else { return nil }
        let made = withPendingFault(number, home, type, row: .none) { type.makeFault() }
        // Computed before the first change: the context finds the object of a core by this offset.
        _ = type.coreOffset(of: made)
        register(made, number, home)
        return made
    }

    /// The object of a class that has no stored properties but its core: the registered one, or a new fault.
    ///
    /// Takes the lock once.
    private func bareObject(_ number: RecordID, _ home: EntityHome, _ metadata: UnsafeRawPointer) -> AnyObject {
        lock.lock()
        defer { lock.unlock() }
        let address = home.identities.address(of: number)
        if let pointer = UnsafeMutableRawPointer(bitPattern: address), fl_try_retain(pointer) {
            return Unmanaged<AnyObject>.fromOpaque(pointer).takeRetainedValue()
        }
        _ = Unmanaged.passUnretained(self).retain()
        let made = BareObject.makeFault(metadata, number, Unmanaged.passUnretained(home), row: .none)
        home.identities.insert(UInt(bitPattern: made), for: number)
        return Unmanaged<AnyObject>.fromOpaque(made).takeRetainedValue()
    }

    private func makeFault<T: PersistentModel>(
        _ number: RecordID, _ home: EntityHome, row: RowReference, as type: T.Type
    ) -> T {
        let made = withPendingFault(number, home, T._$modelType, row: row) { T(_$fault: FaultToken()) }
        T._$modelType.learnCoreOffset(of: made)
        register(made, number, home)
        return made
    }

    private func register(_ object: AnyObject, _ number: RecordID, _ home: EntityHome) {
        lock.lock()
        home.identities.insert(UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()), for: number)
        lock.unlock()
    }

    /// Appends the objects of `numbers` to a buffer: registered ones, or faults, in the order given.
    ///
    /// Takes the lock once or twice in all, not twice for each object, and retains the context once.
    func appendObjects<T: PersistentModel>(
        _ numbers: UnsafeBufferPointer<RecordID>, rows references: UnsafePointer<RowReference>?, _ home: EntityHome,
        to target: UnsafeMutablePointer<T>
    ) {
        if let metadata = T._$modelType.bareMetadata {
            appendBareObjects(
                numbers, rows: references, home, metadata,
                // Safe because a reference to an object is one address, for any class.
                to: UnsafeMutableRawPointer(target).assumingMemoryBound(to: UnsafeMutableRawPointer.self))
            return
        }
        let count = numbers.count
        withUnsafeTemporaryAllocation(of: Bool.self, capacity: count) { isNew in
            lock.lock()
            home.identities.reserve(count)
            for index in 0..<count {
                let found = livingObject(home.identities.address(of: numbers[index]))
                isNew[index] = found == nil
                // Safe because the identity map of a home holds objects of its class only.
                if let found { (target + index).initialize(to: unsafeDowncast(found, to: T.self)) }
            }
            lock.unlock()
            let type = T._$modelType
            for index in 0..<count where isNew[index] {
                let row = references?[index] ?? .none
                let made = withPendingFault(numbers[index], home, type, row: row) { T(_$fault: FaultToken()) }
                (target + index).initialize(to: made)
            }
            lock.lock()
            for index in 0..<count where isNew[index] {
                let address = UInt(bitPattern: Unmanaged.passUnretained(target[index]).toOpaque())
                home.identities.insert(address, for: numbers[index])
            }
            lock.unlock()
        }
        if count > 0 { home.type?.learnCoreOffset(of: target[0]) }
    }

    private func appendBareObjects(
        _ numbers: UnsafeBufferPointer<RecordID>, rows references: UnsafePointer<RowReference>?, _ home: EntityHome,
        _ metadata: UnsafeRawPointer, to target: UnsafeMutablePointer<UnsafeMutableRawPointer>
    ) {
        let homeReference = Unmanaged.passUnretained(home)
        var madeCount: UInt32 = 0
        lock.lock()
        home.identities.reserve(numbers.count)
        for index in 0..<numbers.count {
            let number = numbers[index]
            let address = home.identities.address(of: number)
            if let pointer = UnsafeMutableRawPointer(bitPattern: address), fl_try_retain(pointer) {
                target[index] = pointer
                continue
            }
            let made = BareObject.makeFault(metadata, number, homeReference, row: references?[index] ?? .none)
            home.identities.insert(UInt(bitPattern: made), for: number)
            target[index] = made
            madeCount &+= 1
        }
        // Retained before another thread can release one of them.
        if madeCount > 0 { fl_retain_many(Unmanaged.passUnretained(self).toOpaque(), madeCount) }
        lock.unlock()
    }

    // MARK: Rows

    /// Frees memory of loaded rows; called on any thread that needs memory.
    func reclaimRows(_ byteCount: Int) -> Int {
        lock.lock()
        let freed = rows.evict(byteCount)
        lock.unlock()
        if freed > 0 { store.log.budget.release(freed, for: .rows) }
        return freed
    }

    /// Copies a row into the arena.
    func keep(_ view: RowView, at location: Location) -> RowReference {
        if !rows.hasRoom(for: Int(view.byteCount)) { addRowBlock(minimum: RowArena.footprint(Int(view.byteCount))) }
        return rows.append(view, location: location)
    }

    /// Adds an empty block, and makes it the one to fill.
    @inline(never)
    private func addRowBlock(minimum: Int) {
        let wanted = max(minimum, RowArena.blockByteCount)
        store.log.budget.reserve(wanted, for: .rows)
        lock.lock()
        rows.addBlock(minimum: wanted)
        lock.unlock()
    }

    /// Loads the row of a fault: from the arena if it is still there, else from the store.
    @inline(never)
    func load(_ core: inout ModelCore, _ home: EntityHome) -> RowView? {
        if core.has(.absent) {
            reportAbsence(of: core.number, home.entityName)
            return nil
        }
        guard !core.has(.inserted), !core.has(.temporary), !core.has(.alias), let entity = home.entity else {
            return nil
        }
        if let row = loadedRow(core.row) { return RowArena.view(row) }
        do {
            return try accounted(core.number, home) { try loadFromStore(&core, home, entity) }
        } catch {
            noteUnreadable(&core, error)
            return nil
        }
    }

    private func loadFromStore(
        _ core: inout ModelCore, _ home: EntityHome, _ entity: EntityStorage
    ) throws -> RowView? {
        try beginReading()
        defer { endReading() }
        if let row = try prefetchedRow(of: &core, home, entity) ?? recentRow(of: &core, home, entity) {
            return RowArena.view(row)
        }
        tally.addFault()
        if home.isScanning(core.number), hasFollowers(core.number, home),
            try readAhead(from: core.number, home, entity),
            let row = loadedRow(core.row)
        {
            return RowArena.view(row)
        }
        let location = try snapshot.location(of: core.number, in: entity.table)
        guard !location.isAbsent else {
            core.becomeDeletedElsewhere()
            reportAbsence(of: core.number, entity.name)
            return nil
        }
        tally.addRow()
        core.row = try readRow(core.number, at: location, entity)
        home.lastLoaded = core.number
        home.recentRows.note(core.number, core.row)
        return loadedRow(core.row).map(RowArena.view)
    }

    /// The row of a reference, if it is still in the arena; its block becomes the current one.
    @inline(__always)
    func loadedRow(_ reference: RowReference) -> UnsafeRawPointer? {
        guard reference != .none else { return nil }
        lock.lock()
        defer { lock.unlock() }
        return rows.row(reference)
    }

    /// Reads a row into the arena: directly into the block being filled, or through a buffer if the block has no room
    /// or the record is compressed.
    func readRow(_ number: RecordID, at location: Location, _ entity: EntityStorage) throws -> RowReference {
        if let byteCount = location.byteCount, byteCount <= RowArena.blockByteCount / 8 {
            if rows.room(forRecord: byteCount) == nil { addRowBlock(minimum: byteCount) }
            if let room = rows.room(forRecord: byteCount),
                case .record(let record, _) = try snapshot.read(number, in: entity.table, at: location, into: room)
            {
                let view = try store.view(record, of: entity)
                return rows.adopt(view, location: location, of: room) ?? keepCopy(of: view, at: location)
            }
        }
        guard let record = try snapshot.read(number, in: entity.table, into: &buffer) else { return .none }
        return keep(try store.view(record, of: entity), at: location)
    }

    /// Keeps a row whose bytes lie where a new row may be written.
    private func keepCopy(of view: RowView, at location: Location) -> RowReference {
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: max(Int(view.byteCount), 1), alignment: 8)
        defer { bytes.deallocate() }
        bytes.copyMemory(from: view.base, byteCount: Int(view.byteCount))
        return keep(
            RowView(trusted: bytes, byteCount: Int(view.byteCount), table: view.table, hasExtension: view.hasExtension),
            at: location)
    }

    /// The greatest distance to the next registered object at which reading ahead pays off.
    private static let followerDistanceMax: RecordID = 16

    /// Whether one of the next objects is registered too: code that holds one object at a time needs only its row.
    private func hasFollowers(_ number: RecordID, _ home: EntityHome) -> Bool {
        lock.withLock {
            (1...Self.followerDistanceMax).contains { home.identities.address(of: number + $0) != 0 }
        }
    }

    /// Loads the rows of the registered objects from `first` on, about a block of them.
    ///
    /// - Returns: False if nothing was loaded.
    private func readAhead(from first: RecordID, _ home: EntityHome, _ entity: EntityStorage) throws -> Bool {
        guard let type = home.type, type.coreOffset > 0 else { return false }
        var last = first
        var loadedByteCount = 0
        let coreOffset = UInt(type.coreOffset)
        try snapshot.scan(entity.table, from: first, through: first + 2_047, readAhead: RowArena.blockByteCount) {
            records in
            var place = 0
            while place < records.count {
                let needed = records[place].row.count
                if !rows.hasRoom(for: needed) { addRowBlock(minimum: RowArena.footprint(needed)) }
                // Under the lock an object in the map has its memory: it leaves the map before the memory is freed.
                lock.lock()
                defer { lock.unlock() }
                while place < records.count, rows.hasRoom(for: records[place].row.count) {
                    let record = records[place]
                    place += 1
                    let address = home.identities.address(of: record.id)
                    guard address != 0, let core = UnsafeMutablePointer<ModelCore>(bitPattern: address + coreOffset),
                        core.pointee.draftPointer == nil, !rows.isValid(core.pointee.row)
                    else { continue }
                    tally.addRow()
                    let view = try store.view(record, of: entity)
                    core.pointee.row = rows.append(view, location: record.location)
                    loadedByteCount += RowArena.footprint(Int(view.byteCount))
                    last = record.id
                }
            }
            return loadedByteCount < RowArena.blockByteCount * 3 / 4
        }
        home.lastLoaded = last
        return loadedByteCount > 0
    }

    /// Reads a range of a large value.
    ///
    /// `held` is the value, if it belongs to an object whose deletion was saved.
    func readBlob(
        _ reference: BlobReference, _ held: HeldBlob?, range: Range<UInt64>, into target: UnsafeMutableRawBufferPointer
    ) throws(LogError) {
        if let held {
            try held.read(range, into: target)
        } else {
            try beginReading()
            defer { endReading() }
            try snapshot.readBlob(reference.identifier, range: range, into: target)
        }
        tally.addBlobBytes(target.count)
    }
}
