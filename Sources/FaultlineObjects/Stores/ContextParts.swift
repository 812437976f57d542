internal import FaultlineLog
internal import FaultlineStore

/// The parts of a context over several stores: for each store a `ContextCore`, which has its objects and changes.
///
/// Each entity belongs to one store, so a call that names a class, an entity, an object or an identifier is a call of
/// one part. Everything else is done by all parts. A store that was added since the last call is seen by the next one,
/// unless the context is pinned.
package final class ContextParts {
    /// One of the stores.
    package struct Store: Sendable {
        /// Tells the stores apart.
        package let id: ObjectIdentifier
        /// The name of its configuration.
        package let name: String
        /// Makes the state of a context of this store.
        package let makeCore: @Sendable () -> ContextCore

        package init(id: ObjectIdentifier, name: String, makeCore: @escaping @Sendable () -> ContextCore) {
            self.id = id
            self.name = name
            self.makeCore = makeCore
        }
    }

    private struct Part {
        let store: Store
        let core: ContextCore
    }

    /// Has no objects: holds the settings of the context for parts to come, and refuses classes of no store.
    let settings: ContextCore
    /// Grows with each store that is added or removed.
    private let changeCount: () -> Int
    /// The stores of now, with the count of changes that they stand for.
    private let storesNow: () -> (changeCount: Int, stores: [Store])
    /// Prepares the state of a store that has come, from that of the settings.
    private let enter: (_ core: ContextCore, _ settings: ContextCore) -> Void
    /// Lets the state of a store go that was removed.
    private let leave: (_ core: ContextCore, _ name: String, _ settings: ContextCore) -> Void
    private var seenCount = -1
    private var parts: [Part] = []
    /// Whether a save is under way, during which the parts stay as they are.
    var isSaving = false

    init(
        _ settings: ContextCore, changeCount: @escaping () -> Int,
        storesNow: @escaping () -> (changeCount: Int, stores: [Store]),
        enter: @escaping (_ core: ContextCore, _ settings: ContextCore) -> Void,
        leave: @escaping (_ core: ContextCore, _ name: String, _ settings: ContextCore) -> Void
    ) {
        self.settings = settings
        self.changeCount = changeCount
        self.storesNow = storesNow
        self.enter = enter
        self.leave = leave
    }

    /// The states of the stores, in the order of their configurations.
    package var cores: [ContextCore] {
        look()
        return parts.map(\.core)
    }

    /// The same, with the names of their configurations.
    var named: [(name: String, core: ContextCore)] {
        look()
        return parts.map { ($0.store.name, $0.core) }
    }

    /// The states that the context has now, that of the settings first; looks for no new store.
    package var known: [ContextCore] { [settings] + parts.map(\.core) }

    /// Whether the context stays at one state of each store.
    var isPinned: Bool { parts.contains { $0.core.state.pinLabel != nil } }

    // MARK: The part of a call

    // Where no store has it, that is the state of the settings: the call is refused as one of an unknown class.

    /// The state of the store that has the objects of a class.
    func core(of type: ModelType) -> ContextCore {
        look()
        return parts.first { $0.core.home(of: type) != nil }?.core ?? settings
    }

    /// The state of the store that has an entity.
    func core(named name: String) -> ContextCore {
        look()
        if let part = parts.first(where: { $0.core.home(named: name) != nil }) { return part.core }
        // Its error names an entity that may be meant.
        return parts.first { NearestName.nearest(to: name, among: $0.core.homes.names) != nil }?.core ?? settings
    }

    /// The state of the store that has the entity of an identifier, also under its earlier name.
    func core(for identifier: PersistentIdentifier) -> ContextCore {
        look()
        // The store that it names; that of the entity, for an unsaved object; last that of an entity of another name now.
        let part =
            parts.first { identifier.storedNumber(in: $0.core.store.log.storeID) != nil }
            ?? parts.first { $0.core.homes.reference(named: identifier.entityName) != nil }
            ?? parts.first { $0.core.homes.reference(of: identifier) != nil }
        return part?.core ?? settings
    }

    /// The state that an object is in; of an object of no context, that of the store that has its entity.
    func core(of handle: ObjectHandle) -> ContextCore {
        look()
        if let own = handle.core.pointee.context, parts.contains(where: { $0.core === own }) { return own }
        guard let type = handle.classType else { return settings }
        return parts.first { $0.core.home(of: type) != nil }?.core ?? core(named: type.entityName)
    }

    // MARK: Stores that come and go

    private func look() {
        guard changeCount() != seenCount, !isSaving, !isPinned else { return }
        let (count, stores) = storesNow()
        let old = parts
        parts = stores.map { store in
            if let known = old.first(where: { $0.store.id == store.id }) { return known }
            let core = store.makeCore()
            enter(core, settings)
            return Part(store: store, core: core)
        }
        seenCount = count
        for part in old where !stores.contains(where: { $0.id == part.store.id }) {
            leave(part.core, part.store.name, settings)
        }
    }
}
