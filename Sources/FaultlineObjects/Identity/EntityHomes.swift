internal import FaultlineLog
internal import FaultlineModel
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
    /// Renamed entities by their original names, except names that another entity has.
    @exclusivity(unchecked) private var byOriginalName: [String: EntityHome] = [:]
    @exclusivity(unchecked) private var lastType: (type: ObjectIdentifier, home: EntityHome)?
    /// The last name, and its bits: the same bits are the same name while the name is held.
    @exclusivity(unchecked) private var lastName = ""
    @exclusivity(unchecked) private var lastNameBits: (UInt64, UInt64) = (0, 0)
    @exclusivity(unchecked) private var lastNamed: Unmanaged<EntityHome>?
    /// The homes by ordinal, for look-ups that take no reference.
    @exclusivity(unchecked) private var references: UnsafeMutableBufferPointer<Unmanaged<EntityHome>>

    /// Whether code is called for the objects of some entity.
    @exclusivity(unchecked) private(set) var haveLifecycles = false
    /// Whether the user of the context has set such code.
    @exclusivity(unchecked) private(set) var haveSetLifecycles = false
    @exclusivity(unchecked) private var madeDeletionRules: [DeletionRules]?

    init() { references = .allocate(capacity: 0) }

    deinit { references.deallocate() }

    /// Makes the homes, for a context that no other thread knows yet.
    func fill(_ context: ContextCore, _ store: RowStore, _ types: [ModelType]) {
        let types = Dictionary(types.map { ($0.entityName, $0) }) { first, _ in first }
        all = store.storage.entities.map {
            EntityHome(context: context, entity: $0, type: types[$0.name], storeID: store.log.storeID)
        }
        references.deallocate()
        references = .allocate(capacity: all.count)
        for (ordinal, home) in all.enumerated() {
            references.initializeElement(at: ordinal, to: .passUnretained(home))
            byName[home.entityName] = home
            if let type = home.type { byType[ObjectIdentifier(type)] = home }
        }
        for home in all {
            guard let type = home.type, let hierarchy = type.hierarchy else { continue }
            for ofClass in type.family?.classes ?? [] { byType[ObjectIdentifier(ofClass)] = home }
            for ofClass in hierarchy.classes where byName[ofClass.name] == nil { byName[ofClass.name] = home }
        }
        let entities = store.storage.schema.entities
        for home in all {
            guard let ordinal = home.entity?.ordinal, entities[ordinal].isRenamed else { continue }
            let name = entities[ordinal].originalName
            if byName[name] == nil { byOriginalName[name] = home }
        }
        noteLifecycles()
    }

    /// Notes that the user has given an entity code that is called for its objects, or has taken it away.
    func noteSetLifecycle() {
        haveSetLifecycles = true
        noteLifecycles()
    }

    /// Calls no code for the objects of the context.
    func callNoLifecycles() {
        for home in all { home.lifecycle = nil }
        noteLifecycles()
    }

    private func noteLifecycles() { haveLifecycles = all.contains { $0.lifecycle != nil } }

    /// The effects of deleting an object, by ordinal of its entity.
    func deletionRules(in store: RowStore) -> [DeletionRules] {
        if let madeDeletionRules { return madeDeletionRules }
        let entities = store.storage.entities
        let made = entities.map { DeletionRules($0, entities) }
        madeDeletionRules = made
        return made
    }

    subscript(ordinal: Int) -> EntityHome { all[ordinal] }

    /// The names of all entities and of the classes in their tables.
    var names: [String] { byName.keys.sorted() }

    /// The home of an ordinal, alive as long as the context; takes no reference.
    @inline(__always)
    func reference(_ ordinal: Int) -> Unmanaged<EntityHome> {
        precondition(ordinal >= 0 && ordinal < references.count, "A schema has an entity for each ordinal.")
        return references[ordinal]
    }

    /// The name of a property; nil if the entity is of another store.
    func propertyName(_ slot: Int, of entity: EntityStorage) -> String? {
        guard all.indices.contains(entity.ordinal), all[entity.ordinal].entity === entity else { return nil }
        return all[entity.ordinal].type?.properties[slot].name
    }

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
    func home(named name: String) -> EntityHome? { reference(named: name)?.takeUnretainedValue() }

    /// The same, alive as long as the context; takes no reference.
    @inline(__always)
    func reference(named name: String) -> Unmanaged<EntityHome>? {
        if let lastNamed, Self.bits(of: name) == lastNameBits { return lastNamed }
        return findNamed(name)
    }

    /// The home of the object that an identifier names, alive as long as the context; takes no reference.
    ///
    /// It is that of the entity with the identifier's name, or else of the one that had the name before it was renamed.
    @inline(__always)
    func reference(of identifier: PersistentIdentifier) -> Unmanaged<EntityHome>? {
        reference(named: identifier.entityName) ?? renamed(identifier.entityName)
    }

    @inline(never)
    private func renamed(_ name: String) -> Unmanaged<EntityHome>? {
        byOriginalName[name].map { Unmanaged.passUnretained($0) }
    }

    /// Whether an identifier with a name of an entity is one of the entity with another name.
    func isName(_ name: String, of entityName: String) -> Bool {
        name == entityName || byOriginalName[name]?.entityName == entityName
    }

    /// The two words of a string: its bytes, or its length and the address of its memory.
    // Safe because a string has two words, and nothing is read through them.
    @inline(__always)
    private static func bits(of name: String) -> (UInt64, UInt64) { unsafeBitCast(name, to: (UInt64, UInt64).self) }

    @inline(never)
    private func findNamed(_ name: String) -> Unmanaged<EntityHome>? {
        guard let home = byName[name] else { return nil }
        lastName = name
        lastNameBits = Self.bits(of: name)
        lastNamed = .passUnretained(home)
        return lastNamed
    }
}
