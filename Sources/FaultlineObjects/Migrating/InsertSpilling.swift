internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

/// Lets the context of a migration stage go of its oldest new objects when its unsaved objects exceed their share of the
/// ceiling: their rows are written to the store, beside transactions, and read again by the save.
///
/// Only objects that nothing else holds are let go, and only where the object that is made again later cannot be told
/// from it: without observers, lifecycle code, and stored properties of its own.
struct InsertSpilling {
    let context: ContextCore

    /// Bytes of an object without its values, and of its place in the context's list.
    private static let objectByteCount = 96
    /// Of so many objects that are passed one may stay in memory, because it is held.
    private static let passedPerHeld = 8

    init(_ context: ContextCore) { self.context = context }

    /// Whether to look at the objects again.
    @inline(__always) var isDue: Bool { context.pending.living.count >= context.rules.nextSpillCount }

    /// Does the same as `run` if it is time to look at the objects again.
    ///
    /// For calls that may add objects, before they look at any: only references keep an object in memory.
    @inline(__always) func runIfDue() { if isDue { run() } }

    /// Writes objects and lets them go, if there are too many.
    func run() {
        let count = context.pending.living.count
        context.rules.spillInserts(from: count + SaveRules.spillStep)
        guard mayRun, byteCount > context.rules.unsavedBytes.heldByteCountMax else { return }
        // Not soon again if most objects are held.
        if !spill() { context.rules.spillInserts(from: max(count * 2, SaveRules.spillStep)) }
    }

    /// Whether the objects of the context may be let go.
    private var mayRun: Bool {
        let rules = context.rules
        return rules.spillsInserts && rules.chosenNumbers.isEmpty && rules.sharedTables.isEmpty
            && context.conflicts == nil && !context.homes.haveLifecycles && !context.history.isRecorded
            && context.pending.arriving.isEmpty && context.pending.unawakened.isEmpty && !context.owner.isAbandoned
    }

    private var byteCount: Int {
        let count = context.pending.living.count
        return count * Self.objectByteCount
            + context.rules.unsavedBytes.countInserted(count) {
                context.pending.living[$0].core.pointee.draft?.memoryByteCount ?? 0
            }
    }

    /// - Returns: Whether enough objects were let go.
    private func spill() -> Bool {
        // The only reference to the array, so that an object without another owner can be detected.
        var handles: [ObjectHandle] = []
        swap(&handles, &context.pending.living)
        let spilled = context.pending.spilled ?? makeSpilled()
        let members = takeMembers()
        var isLetGo = mayGo(&handles, after: spilled)
        let passedCount = passedCount(isLetGo, from: spilled.places.count)
        for place in passedCount..<max(passedCount, isLetGo.count) { isLetGo[place] = false }
        guard isLetGo.count(where: { $0 }) * 4 >= handles.count,
            write(handles, isLetGo, passedCount: passedCount, to: spilled)
        else {
            putBack(members, without: [])
            swap(&handles, &context.pending.living)
            return false
        }
        var letGo: Set<UnsafeMutablePointer<ModelCore>> = []
        for place in handles.indices where isLetGo[place] {
            // An initializer that runs holds its object: those of these objects have ended.
            handles[place].core.pointee.remove(.initializing)
            letGo.insert(handles[place].core)
        }
        if putBack(members, without: letGo) { spilled.hasMembers = true }
        var kept: [ObjectHandle] = []
        for place in handles.indices where !isLetGo[place] { kept.append(handles[place]) }
        context.pending.spilled = spilled
        context.pending.lookup.forgetAll()
        context.pending.living = kept
        context.rules.unsavedBytes.recount()
        context.rules.spillInserts(from: kept.count + SaveRules.spillStep)
        return true
    }

    private func makeSpilled() -> SpilledInserts {
        SpilledInserts(
            entityCount: context.homes.all.count,
            makeAll: { [unowned context] spilled in InsertSpilling(context).makeAll(spilled) },
            noteAll: { [unowned context] count in
                context.rules.unsavedBytes.recount()
                context.rules.spillInserts(from: count * 2)
            })
    }

    /// Makes all objects again that were let go.
    ///
    /// An object that cannot be read is left out, and makes the stage fail.
    private func makeAll(_ spilled: SpilledInserts) -> [ObjectHandle] {
        var made: [ObjectHandle] = []
        made.reserveCapacity(spilled.count)
        do {
            let reader = SpillReader(spilled, of: context)
            while let object = try reader.next() { made.append(object.make()) }
        } catch {
            context.stage?.note(error)
            context.refuseSaveLater(error)
        }
        return made
    }

    private typealias Members = (delta: PendingRelationships.Delta, cores: [UnsafeMutablePointer<ModelCore>])

    /// Lets collections go of the new objects that have joined them from their own side: the context's list still has
    /// them.
    private func takeMembers() -> [Members] {
        guard !context.pending.hasDeletions else { return [] }
        let entities = context.store.storage.entities
        var members: [Members] = []
        for (key, delta) in context.pending.relationships.inOrder {
            guard case .toMany(let relationship) = entities[key.entity].slots[key.slot],
                case .inverse = relationship.members, let cores = delta.takeOut()
            else { continue }
            members.append((delta, cores))
        }
        return members
    }

    /// Lets collections hold their members again, without those that are let go.
    ///
    /// - Returns: Whether there are any of these.
    @discardableResult
    private func putBack(_ members: [Members], without letGo: Set<UnsafeMutablePointer<ModelCore>>) -> Bool {
        var hasLetGo = false
        for (delta, cores) in members {
            let kept = cores.filter { !letGo.contains($0) }.map { ObjectHandle(core: &$0.pointee) }
            delta.putBack(kept, spilled: cores.count - kept.count)
            if kept.count < cores.count { hasLetGo = true }
        }
        return hasLetGo
    }

    /// Which objects may be let go.
    private func mayGo(_ handles: inout [ObjectHandle], after spilled: SpilledInserts) -> [Bool] {
        let entities = context.homes.all.map(Self.mayGo)
        var last = spilled.last
        let passedBefore = spilled.places.count
        return handles.withUnsafeMutableBufferPointer { handles in
            handles.indices.map { place in
                let core = handles[place].core
                guard place >= passedBefore, core.pointee.number > last, core.pointee.isPlainInsert,
                    let draft = core.pointee.draft, draft.encodedByteCount <= SpillWriter.rowByteCountMax,
                    let ordinal = core.pointee.home._withUnsafeGuaranteedRef({ $0.entity?.ordinal }),
                    entities[ordinal], isKnownUniquelyReferenced(&handles[place].object)
                else { return false }
                last = core.pointee.number
                return true
            }
        }
    }

    /// Whether objects of an entity may be let go.
    private static func mayGo(_ home: EntityHome) -> Bool {
        guard let entity = home.entity, let type = home.type, type.bareMetadata != nil || type.isDynamic else {
            return false
        }
        return entity.uniqueIndexes.count <= 1 && !entity.uniqueKeysNameObjects && entity.boundedSlots.isEmpty
            && entity.slots.count < 64
    }

    /// How many objects are looked at: few of them stay in memory.
    private func passedCount(_ isLetGo: [Bool], from start: Int) -> Int {
        var heldCount = 0
        var end = start
        for place in start..<max(start, isLetGo.count) {
            if !isLetGo[place] { heldCount += 1 }
            if isLetGo[place], heldCount * Self.passedPerHeld <= place - start + 1 { end = place + 1 }
        }
        return end
    }

    /// Writes objects to an upload.
    ///
    /// - Returns: False if they could not be written, and stay; the save writes them again, and throws.
    private func write(
        _ handles: [ObjectHandle], _ isLetGo: [Bool], passedCount: Int, to spilled: SpilledInserts
    ) -> Bool {
        do throws(LogError) {
            var writer = SpillWriter(
                try context.store.log.beginUpload(), entityCount: context.homes.all.count, after: spilled.last)
            var places: [Int] = []
            for place in spilled.places.count..<passedCount {
                let core = handles[place].core
                guard isLetGo[place], let draft = core.pointee.draft,
                    let ordinal = core.pointee.home._withUnsafeGuaranteedRef({ $0.entity?.ordinal })
                else {
                    places.append(spilled.count + writer.count)
                    continue
                }
                try writer.write(core, draft, ordinal: ordinal)
            }
            let upload = try writer.finish()
            spilled.add(
                SpilledInserts.Part(upload: upload, byteCount: writer.byteCount), writer.counts,
                numbers: writer.first...writer.last, places: places)
            return true
        } catch {
            return false
        }
    }
}

extension ModelCore {
    /// Whether the object is a new one of a context, with a draft and nothing else.
    fileprivate var isPlainInsert: Bool {
        has(.inserted) && has(.temporary) && draftPointer != nil && !hasExtra && !has(.deleted) && !has(.gone)
            && !has(.damaged) && !has(.refused) && !has(.alias) && !has(.registered)
    }
}
