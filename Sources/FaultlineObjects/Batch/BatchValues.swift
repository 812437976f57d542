internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

/// The values of one row of a batch insertion; reused for the next row.
final class BatchValues {
    private let named: NamedEntity
    private let storeID: (UInt64, UInt64)
    private let destinations: [String]
    /// Declared defaults; nil for all other slots.
    private let defaults: Draft
    private(set) var draft: Draft
    /// Whether a slot was set, or has a default.
    private var hasValue: [Bool]
    private let hasDefault: [Bool]
    /// Why a value could not be set; the first failure of the row.
    private(set) var failure: (any Error)?

    /// - Parameters:
    ///   - named: The entity of the objects that are made.
    ///   - store: The store.
    init(of named: NamedEntity, _ store: RowStore) {
        self.named = named
        let (type, entity, place) = (named.type, named.storage, named.place)
        storeID = store.log.storeID
        destinations = entity.slots.map {
            if case .toOne(let relationship) = $0 { store.storage.entities[relationship.destination].name } else { "" }
        }
        var defaults = Draft.create(layout: entity.layout)
        var hasDefault = [Bool](repeating: false, count: type.properties.count)
        for (slot, property) in type.properties.enumerated() where entity.hierarchy?.classes[place].has(slot) ?? true {
            guard let attribute = property.asAttribute else { continue }
            if attribute.hasDefaultValue { DefaultValues.set(attribute, slot: slot, draft: &defaults) }
            hasDefault[slot] =
                attribute.kind == .codable ? !defaults.variable(slot).isEmpty : attribute.hasDefaultValue
        }
        entity.hierarchy?.setClass(of: &defaults, to: place)
        defaults.clearMarks()
        self.defaults = defaults
        self.hasDefault = hasDefault
        hasValue = hasDefault
        draft = defaults.copy()
    }

    /// Describes the objects of the table.
    var type: ModelType { named.type }

    private var entity: EntityStorage { named.storage }

    deinit {
        draft.destroy()
        defaults.destroy()
    }

    /// Begins the next row.
    func begin() {
        draft.destroy()
        draft = defaults.copy()
        hasValue = hasDefault
        failure = nil
    }

    func set(_ name: String, to value: Any?) {
        let slot = type.named(name, inClass: named.place)?.slot
        set(slot, nil, to: value)
        if failure == nil, slot == nil {
            failure = SwiftDataError.unsupportedKeyPath.explained(
                NearestName.unknown(name, among: named.ofClass.entity))
        }
    }

    func set(_ slot: Int?, _ keyPath: @autoclosure () -> String?, to value: Any?) {
        guard failure == nil else { return }
        guard let slot else {
            guard let keyPath = keyPath() else { return }
            failure = SwiftDataError.unsupportedKeyPath.explained(
                "\(keyPath) is no stored property of \(type.entityName).")
            return
        }
        do {
            switch entity.slots[slot] {
            case .attribute: try SlotChange(slot, of: type, inClass: named.place, to: value).apply(to: &draft)
            case .toOne: draft.setToOne(slot, try number(value.flatMap(unwrapped), slot))
            case .toMany: throw refusal(slot, "is a collection. Set the other side of the relationship")
            }
            hasValue[slot] = true
        } catch { failure = error }
    }

    private func number(_ value: Any?, _ slot: Int) throws -> RecordID {
        guard let value else { return 0 }
        let identifier = (value as? PersistentIdentifier) ?? (value as? any PersistentModel)?.persistentModelID
        guard let identifier else { throw refusal(slot, "leads to an object. Set it to a PersistentIdentifier") }
        guard identifier.entityName == destinations[slot] else {
            throw refusal(slot, "leads to \(destinations[slot]), and was given a \(identifier.entityName)")
        }
        guard !identifier.isTemporary, identifier.storeID == storeID else {
            throw refusal(slot, "was given an object that is not stored in this store. Save it first")
        }
        return identifier.number
    }

    private func refusal(_ slot: Int, _ why: String) -> SwiftDataError {
        .modelValidationFailure.explained("\(type.entityName).\(type.properties[slot].name) \(why).")
    }

    // MARK: Rules

    /// Calls `body` with each slot that needs a value and has none.
    func forEachMissing(_ body: (_ slot: Int) -> Void) {
        // In a table without classes, attributes of subclasses are optional.
        let required = entity.hierarchy?.classes[named.place].requiredSlots
        for (own, property) in named.ofClass.properties.enumerated() {
            let slot = type.family?.slots[named.place][own] ?? own
            guard !hasValue[slot] else { continue }
            let isRequired = required?.contains(slot) == true
            if let attribute = property.asAttribute, isRequired || !attribute.isOptional, !attribute.isTransient {
                body(slot)
            }
        }
        for slot in entity.requiredSlots where draft.toOne(slot) == 0 && entity.has(slot, draft) { body(slot) }
    }
}
