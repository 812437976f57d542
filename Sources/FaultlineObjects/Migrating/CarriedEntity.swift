package import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

/// The properties of one entity that a streamed stage copies from old objects to new ones if its closures do not set
/// them.
///
/// It works between the context that reads the old objects and the context that makes the new ones. A property counts
/// as set on a new object if its value differs from the default. It belongs to the thread of its contexts.
package final class CarriedEntity {
    /// The counts of a property in the current batch.
    package struct Tally {
        /// Old objects that had a value.
        package var had = 0
        /// New objects that were given the value of their old one.
        package var carried = 0
        /// New objects for which a closure has set a value other than the default.
        package var set = 0
        /// Whether a closure has said not to copy the property.
        package var isLeft = false
    }

    /// The slots of a property in the rows of the old entity and of the new one.
    private struct Slots {
        let old: Int
        let new: Int
        let isToOne: Bool
        let isVariable: Bool
        /// Whether an object may omit it: if not, each one sets it.
        let hasDefault: Bool
        /// Whether it has a position in a collection.
        let keepsPlace: Bool
    }

    /// A value that was given to an object of the batch.
    private struct Carried {
        /// The index among the objects that the next save adds.
        let object: Int
        /// The index of the property.
        let place: Int
    }

    package let entityName: String
    private let reader: ContextCore
    private let target: ContextCore
    private let oldHome: EntityHome
    private let newHome: EntityHome
    private let oldEntity: EntityStorage
    private let newEntity: EntityStorage
    private let slots: [Slots]
    private let defaults: Draft
    private let newHomeAddress: UnsafeMutableRawPointer
    @exclusivity(unchecked) private var carried: [Carried] = []
    /// Whether a closure has set each property of the object that keeps the identity of the current old one.
    @exclusivity(unchecked) private var isSetByHeir: [Bool]
    /// By property, in the given order.
    @exclusivity(unchecked) package private(set) var batch: [Tally]

    /// Pairs the properties of two contexts; nil if one of them lacks the entity, or a property.
    ///
    /// - Parameters:
    ///   - entityName: The entity that `target` makes.
    ///   - target: Makes the new objects.
    ///   - oldName: The entity that `reader` reads.
    ///   - reader: Reads the old objects.
    ///   - properties: The names of each property in both, and whether a new object may keep a default for it.
    package init?(
        _ entityName: String, of target: ContextCore, from oldName: String, of reader: ContextCore,
        properties: [(old: String, new: String, hasDefault: Bool)]
    ) {
        guard let oldHome = reader.home(named: oldName), let oldEntity = oldHome.entity,
            let newHome = target.home(named: entityName), let newEntity = newHome.entity
        else { return nil }
        let old = reader.store.storage.schema.entities[oldEntity.ordinal].properties
        let new = target.store.storage.schema.entities[newEntity.ordinal].properties
        var slots: [Slots] = []
        for pair in properties {
            guard let from = old.firstIndex(where: { $0.name == pair.old }),
                let to = new.firstIndex(where: { $0.name == pair.new })
            else { return nil }
            slots.append(
                Slots(
                    old: from, new: to, isToOne: new[to] is Schema.Relationship,
                    isVariable: newEntity.layout.columns[to].isVariable, hasDefault: pair.hasDefault,
                    keepsPlace: newEntity.hasPosition(to)))
        }
        let defaults = DefaultValues.draft(of: new, layout: newHome.layout)
        self.entityName = entityName
        self.reader = reader
        self.target = target
        self.oldHome = oldHome
        self.newHome = newHome
        newHomeAddress = Unmanaged.passUnretained(newHome).toOpaque()
        isSetByHeir = [Bool](repeating: false, count: slots.count)
        self.oldEntity = oldEntity
        self.newEntity = newEntity
        self.slots = slots
        self.defaults = defaults
        batch = slots.map { _ in Tally() }
    }

    deinit { defaults.destroy() }

    /// Clears the batch after it was saved or dropped.
    package func beginBatch() {
        carried.removeAll(keepingCapacity: true)
        for place in batch.indices { batch[place] = Tally() }
    }

    /// Records that the closures decide the value of a property.
    package func leave(_ place: Int) { batch[place].isLeft = true }

    // MARK: One old object

    /// Handles the new objects of one old object: counts the properties that a closure has set, and copies the old
    /// values of the others to the object that keeps the old one's identity.
    ///
    /// - Parameters:
    ///   - old: The old object; if it is of another entity only set properties are counted.
    ///   - number: Its number.
    ///   - isOwn: Whether it is of the entity that the new one was.
    ///   - start: The index of the first of the new objects among those that the next save adds.
    /// - Throws: `StoreError` if the old row cannot be read.
    package func carryOver(_ old: AnyObject, _ number: RecordID, isOwn: Bool, from start: Int) throws {
        var heir: Int?
        for object in start..<target.pending.living.count {
            let core = target.pending.living[object].core
            guard core.pointee.home.toOpaque() == newHomeAddress, let draft = core.pointee.draft else { continue }
            let isHeir = isOwn && target.rules.chosenNumbers[core.pointee.number] == number
            if isHeir { heir = object }
            for place in slots.indices {
                let isSet = !isDefault(draft, slots[place])
                if isSet { batch[place].set += 1 }
                if isHeir { isSetByHeir[place] = isSet }
            }
        }
        guard isOwn else { return }
        try withRow(of: old, number) { row in
            for place in slots.indices where Self.hasValue(row, slots[place]) {
                batch[place].had += 1
                guard let heir, !isSetByHeir[place] else { continue }
                carry(row, slots[place], into: target.pending.living[heir])
                carried.append(Carried(object: heir, place: place))
                batch[place].carried += 1
            }
        }
    }

    /// Calls `body` with the row of an old object, which a closure may have changed in memory.
    private func withRow(of old: AnyObject, _ number: RecordID, _ body: (RowView) throws -> Void) throws {
        if let handle = oldHome.handle(of: old), handle.core.pointee.draftPointer == nil,
            let row = handle.core.pointee.loadedRow()
        {
            return try body(row)
        }
        try reader.beginReading()
        defer { reader.endReading() }
        var buffer = RecordBuffer()
        guard let record = try reader.snapshot.read(number, in: oldEntity.table, into: &buffer) else { return }
        try body(reader.store.view(record, of: oldEntity))
    }

    private func carry(_ row: RowView, _ slot: Slots, into new: ObjectHandle) {
        new.core.pointee.write { draft in
            draft.copyValue(of: row, slot: slot.old, into: slot.new)
            if slot.keepsPlace, let key = row.orderKey(slot.old) { draft.setOrderKey(slot.new, key) }
        }
        guard slot.isVariable, let blob = new.core.pointee.draft?.blobReference(slot.new) else { return }
        // The save moves it, or copies it if moving is not allowed.
        new.core.pointee.extra.givenValues[slot.new] = GivenValue(number: blob.identifier, source: reader)
    }

    private func isDefault(_ draft: Draft, _ slot: Slots) -> Bool {
        guard slot.hasDefault else { return false }
        return slot.isToOne ? draft.toOne(slot.new) == 0 : draft.hasSameBytes(as: defaults, slot: slot.new)
    }

    private static func hasValue(_ row: RowView, _ slot: Slots) -> Bool {
        slot.isToOne ? row.toOne(slot.old) != 0 : !row.isNil(slot.old) && !row.isDefault(slot.old)
    }

    // MARK: Undoing

    /// Resets some properties of the batch's objects to their defaults.
    package func takeBack(_ isTakenBack: (_ place: Int) -> Bool) {
        for one in carried where isTakenBack(one.place) {
            let handle = target.pending.living[one.object]
            reset(handle, slots[one.place])
            batch[one.place].carried -= 1
            handle.core.pointee.extraIfPresent?.givenValues[slots[one.place].new] = nil
        }
        carried.removeAll { isTakenBack($0.place) }
    }

    /// Resets a property of stored objects with low numbers to its default.
    ///
    /// - Parameters:
    ///   - place: The property.
    ///   - end: The first number that is not reset.
    ///   - afterEach: Called after each object; may save.
    /// - Throws: `StoreError` if the store cannot be read, and the error of `afterEach`.
    package func takeBackStored(_ place: Int, below end: RecordID, afterEach: () throws -> Void) throws {
        guard end > 1 else { return }
        let slot = slots[place]
        try StageContext(target).forEachStored(newHome, after: 0, through: end - 1, while: { true }) { object, _, _ in
            guard let handle = newHome.handle(of: object) else { return }
            let isDefault = handle.core.pointee.read(
                { self.isDefault($0, slot) },
                { row in
                    slot.isToOne
                        ? row.toOne(slot.new) == 0
                        : RowKeys.isEqual(defaults, row, slot.new, newEntity.layout)
                })
            if isDefault != true, handle.core.pointee._$beginChange(slot.new) { reset(handle, slot) }
            try afterEach()
        }
    }

    private func reset(_ handle: ObjectHandle, _ slot: Slots) {
        handle.core.pointee.write { draft in
            if slot.isToOne {
                draft.setToOne(slot.new, 0)
                if slot.keepsPlace { draft.setOrderKey(slot.new, nil) }
            } else {
                draft.takeValue(of: defaults, slot: slot.new, layout: newEntity.layout)
            }
        }
    }
}
