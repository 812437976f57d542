internal import FaultlineDisk
internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

/// The sources of one context's objects, for its `FaultAccount`.
///
/// Used by the context's thread.
final class FaultAccounting {
    let account: FaultAccount
    private var sources: [FaultAccount.Source] = []
    private var places: [FaultAccount.Source: Int32] = [:]
    /// Whether a measurement is under way, so that reads within it are not counted twice.
    var isWithin = false
    /// Places in `sources`, by ordinal of the entity and number of the object.
    private var origins: [[RecordID: Int32]]

    init(_ account: FaultAccount, entityCount: Int) {
        self.account = account
        origins = Array(repeating: [:], count: entityCount)
    }

    /// Records the source of fetched objects.
    func noteFetched(_ numbers: some Sequence<RecordID>, _ entity: EntityStorage, site: String) {
        let place = place(of: .init(entityName: entity.name, site: site, path: []))
        for number in numbers { origins[entity.ordinal][number] = place }
    }

    /// Records that objects were reached by a relationship of another object.
    func noteReached(
        _ numbers: some Sequence<RecordID>, _ destination: Int, by propertyName: String, of owner: RecordID,
        _ entity: EntityStorage
    ) {
        let source = source(of: owner, entity)
        let place = place(
            of: .init(entityName: source.entityName, site: source.site, path: source.path + [propertyName]))
        for number in numbers { origins[destination][number] = place }
    }

    func source(of number: RecordID, _ entity: EntityStorage) -> FaultAccount.Source {
        origins[entity.ordinal][number].map { sources[Int($0)] }
            ?? FaultAccount.Source(entityName: entity.name, site: nil, path: [])
    }

    private func place(of source: FaultAccount.Source) -> Int32 {
        if let place = places[source] { return place }
        let place = Int32(truncatingIfNeeded: sources.count)
        sources.append(source)
        places[source] = place
        return place
    }
}

extension ContextCore {
    /// Fetches, and records its reads and the source of its objects, if there is an account.
    @inline(__always)
    func accountedFetch<T: PersistentModel>(
        _ fileID: StaticString, _ line: UInt, _ body: () throws -> [T]
    ) rethrows -> [T] {
        guard let accounting else { return try body() }
        let before = tally.counters
        let start = ContinuousClock.now
        accounting.isWithin = true
        defer { accounting.isWithin = false }
        let found = try body()
        guard let core = found.first?._$coreAddress(),
            let entity = core.pointee.home.takeUnretainedValue().entity
        else { return found }
        let site = "\(fileID):\(line)"
        let stored = found.lazy.filter { !$0._$coreAddress().pointee.has(.temporary) }
        accounting.noteFetched(stored.map { $0._$coreAddress().pointee.number }, entity, site: site)
        accounting.account.add(
            FaultAccount.Source(entityName: entity.name, site: site, path: []), tally.counters - before,
            ContinuousClock.now - start)
        return found
    }

    /// Records that objects with these numbers were reached by a relationship.
    func noteReached(_ numbers: some Sequence<RecordID>, by slot: Int, of core: borrowing ModelCore) {
        guard let accounting, !core.has(.temporary) else { return }
        let home = core.home.takeUnretainedValue()
        guard let entity = home.entity, let property = home.type?.properties[slot] else { return }
        let destination: Int
        switch entity.slots[slot] {
        case .attribute: return
        case .toOne(let relationship): destination = relationship.destination
        case .toMany(let relationship): destination = relationship.destination
        }
        accounting.noteReached(numbers, destination, by: property.name, of: core.number, entity)
    }

    /// Calls `body`, and records its reads for an object, if there is an account.
    @inline(__always)
    func accounted<R, E: Error>(
        _ number: RecordID, _ home: EntityHome, _ slot: Int? = nil, _ body: () throws(E) -> R
    ) throws(E) -> R {
        guard let accounting, !accounting.isWithin else { return try body() }
        return try accountedSlowly(accounting, number, home, slot, body)
    }

    @inline(never)
    private func accountedSlowly<R, E: Error>(
        _ accounting: FaultAccounting, _ number: RecordID, _ home: EntityHome, _ slot: Int?, _ body: () throws(E) -> R
    ) throws(E) -> R {
        let before = tally.counters
        let start = ContinuousClock.now
        accounting.isWithin = true
        defer {
            accounting.isWithin = false
            let read = tally.counters - before
            if let entity = home.entity, read != FaultCounters() {
                accounting.account.add(
                    accounting.source(of: number, entity),
                    propertyName: slot.flatMap { home.type?.properties[$0].name }, read, ContinuousClock.now - start)
            }
        }
        return try body()
    }
}

extension ModelContext {
    /// The account that this context's loads are entered in; nil, the default, for none.
    public var faultAccount: FaultAccount? {
        get { core.accounting?.account }
        set { core.accounting = newValue.map { FaultAccounting($0, entityCount: core.homes.all.count) } }
    }

    /// How many objects of each entity are alive in this context, and how many of them it retains because of unsaved
    /// changes.
    ///
    /// Entities without any are left out.
    ///
    /// - Complexity: O(n) for n objects with unsaved changes.
    public var residentObjects: [ResidentObjects] { core.residentObjects }
}

/// Objects of an entity that are alive in a context.
public struct ResidentObjects: Sendable, Equatable {
    /// The entity.
    public let entityName: String
    /// How many objects are alive, new ones included.
    public let count: Int
    /// How many of them are new, changed or to be deleted: the context holds these until they are saved.
    ///
    /// Only the program holds the others.
    public let unsavedCount: Int
}

extension ContextCore {
    fileprivate var residentObjects: [ResidentObjects] {
        var unsaved: [Int: Int] = [:]
        var new: [Int: Int] = [:]
        var known: Set<ObjectIdentifier> = []
        for handle in pending.inserted + pending.changed + pending.deleted
        where known.insert(ObjectIdentifier(handle.object)).inserted {
            guard let entity = handle.core.pointee.home.takeUnretainedValue().entity else { continue }
            unsaved[entity.ordinal, default: 0] += 1
            if handle.core.pointee.has(.temporary) { new[entity.ordinal, default: 0] += 1 }
        }
        return homes.all.compactMap { home in
            guard let entity = home.entity else { return nil }
            let count = lock.withLock { home.identities.count } + (new[entity.ordinal] ?? 0)
            guard count > 0 else { return nil }
            return ResidentObjects(
                entityName: home.entityName, count: count, unsavedCount: unsaved[entity.ordinal] ?? 0)
        }
    }
}
