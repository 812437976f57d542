internal import FaultlineLog
internal import FaultlineStore

/// The homes of a context's entities, found by ordinal, class or name.
///
/// The last one found by class, and by name, is found again without hashing: a loop asks for the same one.
///
/// Concurrency: `all` does not change once the context is made, and any thread reads it. The context's thread uses the
/// rest. A class: in a struct, a look-up that changes a cache would count as a change of `all` too.
final class EntityHomes {
    /// By ordinal of the entity.
    @exclusivity(unchecked) private(set) var all: [EntityHome] = []
    @exclusivity(unchecked) private var byType: [ObjectIdentifier: EntityHome] = [:]
    @exclusivity(unchecked) private var byName: [String: EntityHome] = [:]
    @exclusivity(unchecked) private var lastType: (type: ObjectIdentifier, home: EntityHome)?
    @exclusivity(unchecked) private var lastNamed: (name: String, home: EntityHome)?

    /// Whether code is called for the objects of some entity.
    @exclusivity(unchecked) private(set) var haveLifecycles = false
    @exclusivity(unchecked) private var madeDeletionRules: [DeletionRules]?

    /// Makes the homes, for a context that no other thread knows yet.
    func fill(_ context: ContextCore, _ store: RowStore, _ types: [ModelType]) {
        let types = Dictionary(types.map { ($0.entityName, $0) }) { first, _ in first }
        all = store.storage.entities.map {
            EntityHome(context: context, entity: $0, type: types[$0.name], storeID: store.log.storeID)
        }
        for home in all {
            byName[home.entityName] = home
            if let type = home.type { byType[ObjectIdentifier(type)] = home }
        }
        noteLifecycles()
    }

    /// Notes that an entity got, or lost, code that is called for its objects.
    func noteLifecycles() { haveLifecycles = all.contains { $0.lifecycle != nil } }

    /// The effects of deleting an object, by ordinal of its entity.
    func deletionRules(in store: RowStore) -> [DeletionRules] {
        if let madeDeletionRules { return madeDeletionRules }
        let entities = store.storage.entities
        let made = entities.map { DeletionRules($0, entities) }
        madeDeletionRules = made
        return made
    }

    subscript(ordinal: Int) -> EntityHome { all[ordinal] }

    /// The home of a class's objects; nil if the schema lacks its entity.
    @inline(__always)
    func home(of type: ModelType) -> EntityHome? {
        if let lastType, lastType.type == ObjectIdentifier(type) { return lastType.home }
        return find(type)
    }

    private func find(_ type: ModelType) -> EntityHome? {
        guard let home = byType[ObjectIdentifier(type)] else { return nil }
        lastType = (ObjectIdentifier(type), home)
        return home
    }

    /// The home of an entity's objects; nil if the schema lacks the entity.
    func home(named name: String) -> EntityHome? {
        if let lastNamed, lastNamed.name == name { return lastNamed.home }
        guard let home = byName[name] else { return nil }
        lastNamed = (name, home)
        return home
    }
}
