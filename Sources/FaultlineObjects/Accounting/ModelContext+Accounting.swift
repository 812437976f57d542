internal import FaultlineDisk
internal import FaultlineStore

extension ModelContext {
    /// The account that this context's loads are entered in; nil, the default, for none.
    public var faultAccount: FaultAccount? {
        get { core.reports.accounting?.account }
        set {
            onEachState { core in
                core.reports.accounting = newValue.map { FaultAccounting($0, entityCount: core.homes.all.count) }
            }
        }
    }

    /// How many objects of each entity are alive in this context, and how many of them it retains because of unsaved
    /// changes.
    ///
    /// Entities without any are left out.
    ///
    /// - Complexity: O(n) for n objects with unsaved changes.
    public var residentObjects: [ResidentObjects] { cores.flatMap(\.residentObjects) }
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
