internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

/// Finds all objects that are deleted together with some objects of a context, by the delete rules and with the
/// context's unsaved changes.
///
/// It works on numbers: no object is made, loaded or changed, so a walk may serve for information only. It takes a bit
/// for each number of an entity, and the numbers in one collection at a time.
///
/// The walk first follows all cascades, then checks the rules that forbid the deletion: an object that is deleted too
/// denies nothing, in any order of the rules. Used between `beginReading` and `endReading` of its context.
final class DeletionWalk {
    let context: ContextCore
    let rules: [DeletionRules]
    /// Stored objects to delete, by ordinal of the entity.
    private(set) var doomed: [NumberSet]
    /// Unsaved objects to delete.
    private(set) var unsaved: [ObjectHandle] = []
    /// Living objects that a rule deletes; set by a save.
    var marked: [ObjectHandle] = []
    private var unsavedNumbers: Set<UInt64> = []
    private var waiting: [NumberSet]
    private var walkedUnsaved = 0
    /// Stored objects with unsaved changes, by ordinal of the entity: their values are in drafts.
    private let drafted: [[RecordID: ObjectHandle]]
    /// Bytes of large values, by ordinal of the entity; nil unless they are counted.
    private(set) var blobByteCounts: [UInt64]?
    private var buffer = RecordBuffer()

    /// An object that the walk visits.
    struct Subject {
        let entity: EntityStorage
        let reference: ObjectReference
        /// Its unsaved values; nil if the stored ones are in force.
        let draft: Draft?
    }

    /// Prepares a walk from the objects that the context has marked as deleted.
    init(_ context: ContextCore, countsBytes: Bool = false) {
        self.context = context
        let entities = context.store.storage.entities
        rules = context.homes.deletionRules(in: context.store)
        doomed = entities.map { _ in NumberSet() }
        waiting = doomed
        var drafted: [[RecordID: ObjectHandle]] = entities.map { _ in [:] }
        for handle in context.pending.changed + context.pending.deleted where handle.core.pointee.draftPointer != nil {
            guard let entity = handle.core.pointee.home.takeUnretainedValue().entity else { continue }
            drafted[entity.ordinal][handle.core.pointee.number] = handle
        }
        self.drafted = drafted
        if countsBytes { blobByteCounts = entities.map { _ in 0 } }
        context.pending.deleted.forEach(add)
        if let doomed = context.pending.doomedNumbers { doomed.numbers.forEach { add($0, doomed.ordinal) } }
        if context.pending.hasDeletedInserts {
            context.pending.inserted.filter { $0.core.pointee.has(.deleted) }.forEach(add)
        }
    }

    // MARK: Deleted objects

    var isEmpty: Bool { unsaved.isEmpty && doomed.allSatisfy(\.isEmpty) }

    /// Ordinals of the entities with objects that only rules delete.
    var concernedByRules: Set<Int> {
        var named = doomed.map { _ in 0 }
        let marks = Set(marked.map { ObjectIdentifier($0.object) })
        for handle in context.pending.deleted where !marks.contains(ObjectIdentifier(handle.object)) {
            if let entity = handle.core.pointee.home.takeUnretainedValue().entity { named[entity.ordinal] += 1 }
        }
        return Set(doomed.indices.filter { doomed[$0].count > named[$0] })
    }

    func add(_ handle: ObjectHandle) {
        guard let entity = handle.core.pointee.home.takeUnretainedValue().entity else { return }
        let number = handle.core.pointee.number
        guard handle.core.pointee.has(.temporary) else { return add(number, entity.ordinal) }
        if unsavedNumbers.insert(number).inserted { unsaved.append(handle) }
    }

    /// Leaves an unsaved object out of the save, with the unsaved objects that its delete rules delete.
    ///
    /// - Parameters:
    ///   - handle: The object.
    ///   - isKept: Whether an object that would be left out with it stays.
    /// - Returns: All objects that are left out, including the object itself.
    func leaveOut(_ handle: ObjectHandle, unless isKept: (ObjectReference) -> Bool) -> [ObjectHandle] {
        let first = unsaved.count
        add(handle)
        var position = first
        while position < unsaved.count {
            if let subject = subject(unsaved[position]) { leaveOutFollowers(of: subject, unless: isKept) }
            position += 1
        }
        walkedUnsaved = unsaved.count
        return Array(unsaved[first...])
    }

    private func leaveOutFollowers(of subject: Subject, unless isKept: (ObjectReference) -> Bool) {
        for slot in rules[subject.entity.ordinal].cascadingToOne {
            let target = ObjectReference(bits: subject.draft?.toOne(slot) ?? 0)
            guard target.isTemporary, !isKept(target) else { continue }
            if let handle = context.pending.insertedObject(target.number) { add(handle) }
        }
        for slot in rules[subject.entity.ordinal].cascadingToMany {
            let key = PendingRelationships.Key(entity: subject.entity.ordinal, slot: slot, owner: subject.reference)
            for member in context.pending.members(key)?.added.handles ?? []
            where member.reference.isTemporary && !isKept(member.reference) {
                add(member)
            }
        }
    }

    /// Takes back unsaved objects that were added last, and were left out.
    ///
    /// - Parameter first: The place of the first of them in `unsaved`.
    /// - Returns: The objects.
    func takeBack(from first: Int) -> [ObjectHandle] {
        let left = Array(unsaved[first...])
        unsaved.removeSubrange(first...)
        for handle in left { unsavedNumbers.remove(handle.core.pointee.number) }
        walkedUnsaved = unsaved.count
        return left
    }

    func add(_ number: RecordID, _ ordinal: Int) {
        if doomed[ordinal].insert(number) { waiting[ordinal].insert(number) }
    }

    func isDoomed(_ reference: ObjectReference, _ ordinal: Int) -> Bool {
        reference.isTemporary ? unsavedNumbers.contains(reference.number) : doomed[ordinal].contains(reference.number)
    }

    func isDoomed(_ handle: ObjectHandle) -> Bool {
        guard let entity = handle.core.pointee.home.takeUnretainedValue().entity else { return false }
        return isDoomed(handle.reference, entity.ordinal)
    }

    /// Follows the cascades of all objects that were added.
    ///
    /// - Throws: The store's error if it cannot be read; in a batch, `CancellationError` if the task is cancelled.
    func run(in state: borrowing some StoredState & ~Copyable) throws {
        let isBatch = context.pending.doomedNumbers != nil
        var cancellation = CancellationPoint()
        while true {
            if isBatch { try cancellation.pass() }
            if walkedUnsaved < unsaved.count {
                walkedUnsaved += 1
                if let subject = subject(unsaved[walkedUnsaved - 1]) { try follow(subject, in: state) }
            } else if let ordinal = waiting.firstIndex(where: { !$0.isEmpty }),
                let number = waiting[ordinal].popFirst()
            {
                try follow(subject(number, ordinal), in: state)
            } else {
                return
            }
        }
    }

    private func follow(_ subject: Subject, in state: borrowing some StoredState & ~Copyable) throws {
        let rules = rules[subject.entity.ordinal]
        if !rules.cascadingToOne.isEmpty || blobByteCounts != nil {
            for (slot, target) in try targets(
                of: subject, rules.cascadingToOne, countsBytes: blobByteCounts != nil, in: state)
            {
                guard case .toOne(let relationship) = subject.entity.slots[slot] else { continue }
                try add(target, relationship.destination)
            }
        }
        for slot in rules.cascadingToMany {
            guard case .toMany(let relationship) = subject.entity.slots[slot] else { continue }
            try forEachMember(of: subject, slot, in: state) { try add($0, relationship.destination) }
        }
    }

    private func add(_ reference: ObjectReference, _ ordinal: Int) throws {
        if !reference.isTemporary { return add(reference.number, ordinal) }
        if let handle = context.pending.insertedObject(reference.number) { add(handle) }
    }

    // MARK: References of an object

    func subject(_ number: RecordID, _ ordinal: Int) -> Subject {
        Subject(
            entity: context.store.storage.entities[ordinal],
            reference: ObjectReference(number: number, isTemporary: false),
            draft: drafted[ordinal].isEmpty ? nil : drafted[ordinal][number]?.core.pointee.draft)
    }

    func subject(_ handle: ObjectHandle) -> Subject? {
        handle.core.pointee.home.takeUnretainedValue().entity.map {
            Subject(entity: $0, reference: handle.reference, draft: handle.core.pointee.draft)
        }
    }

    /// Calls `body` with each deleted object.
    func forEachDoomed(_ body: (Subject) throws -> Void) rethrows {
        for ordinal in doomed.indices { try doomed[ordinal].forEach { try body(subject($0, ordinal)) } }
        for handle in unsaved { if let subject = subject(handle) { try body(subject) } }
    }

    /// The objects that to-one slots lead to, without missing ones.
    ///
    /// Slots that were not set are read from the stored row, which another save may have changed.
    func targets(
        of subject: Subject, _ slots: [Int], countsBytes: Bool = false,
        in state: borrowing some StoredState & ~Copyable
    ) throws -> [(slot: Int, target: ObjectReference)] {
        var found: [(slot: Int, target: ObjectReference)] = []
        func look(_ slot: Int, _ bits: UInt64) throws {
            guard bits != 0, case .toOne(let relationship) = subject.entity.slots[slot] else { return }
            let target = ObjectReference(bits: bits)
            guard try isThere(target, relationship.destination, in: state) else { return }
            if case .toOne(let inverse) = relationship.inverse,
                hasLeft(target, relationship.destination, inverse, owner: subject.reference)
            {
                return
            }
            found.append((slot, target))
        }
        if subject.reference.isTemporary {
            guard let draft = subject.draft else { return [] }
            if countsBytes { count(subject.entity) { draft.blobReference($0)?.byteCount } }
            for slot in slots { try look(slot, draft.toOne(slot)) }
            return found
        }
        let store = context.store
        let bits = try state.withRecord(subject.reference.number, in: subject.entity.table, &buffer) { record in
            let view = try store.view(record, of: subject.entity)
            if countsBytes { count(subject.entity) { view.blobReference($0)?.byteCount } }
            return slots.map { slot in
                if let draft = subject.draft, draft.isChanged(slot) { return draft.toOne(slot) }
                return view.toOne(slot)
            }
        }
        guard let bits else { return [] }
        context.tally.addRow()
        for (slot, bits) in zip(slots, bits) { try look(slot, bits) }
        return found
    }

    private func count(_ entity: EntityStorage, _ byteCount: (Int) -> UInt64?) {
        for slot in entity.variableSlots { blobByteCounts?[entity.ordinal] += byteCount(slot) ?? 0 }
    }

    /// Whether a reference leads to an object, including one that is deleted here.
    func isThere(
        _ reference: ObjectReference, _ ordinal: Int, in state: borrowing some StoredState & ~Copyable
    ) throws -> Bool {
        if reference.isTemporary { return context.pending.insertedObject(reference.number) != nil }
        let table = context.store.storage.entities[ordinal].table
        return try !state.location(of: reference.number, in: table).isAbsent
    }

    /// Whether unsaved values of a stored object lead elsewhere, although its owner's stored ones lead to it: another save
    /// has related the two since this context has read them.
    private func hasLeft(_ member: ObjectReference, _ ordinal: Int, _ slot: Int, owner: ObjectReference) -> Bool {
        guard !member.isTemporary, !drafted[ordinal].isEmpty,
            let draft = drafted[ordinal][member.number]?.core.pointee.draft
        else { return false }
        return draft.isChanged(slot) && ObjectReference(bits: draft.toOne(slot)) != owner
    }

    /// Calls `body` with the members of a to-many slot, in no order, without missing ones.
    func forEachMember(
        of subject: Subject, _ slot: Int, in state: borrowing some StoredState & ~Copyable,
        _ body: (ObjectReference) throws -> Void
    ) throws {
        guard case .toMany(let relationship) = subject.entity.slots[slot] else { return }
        let key = PendingRelationships.Key(entity: subject.entity.ordinal, slot: slot, owner: subject.reference)
        let delta = context.pending.members(key)
        let added = Set((delta?.added.handles ?? []).map(\.reference))
        let removed = delta?.removed ?? []
        for reference in added {
            if !reference.isTemporary, try !isThere(reference, relationship.destination, in: state) { continue }
            try body(reference)
        }
        guard !subject.reference.isTemporary else { return }
        var inverse: Int?
        if case .inverse(let slot, _) = relationship.members { inverse = slot }
        for number in try state.memberNumbers(of: subject.reference.number, in: relationship.members.index) {
            let reference = ObjectReference(number: number, isTemporary: false)
            if !added.isEmpty, added.contains(reference) { continue }
            if !removed.isEmpty, removed.contains(reference) { continue }
            if let inverse, hasLeft(reference, relationship.destination, inverse, owner: subject.reference) { continue }
            // A member that stores the reference to its owner exists; a link may outlive one of its two objects.
            if case .link = relationship.members, try !isThere(reference, relationship.destination, in: state) {
                continue
            }
            try body(reference)
        }
    }

    /// How many members of a collection stay.
    func remainingCount(
        of subject: Subject, _ slot: Int, in state: borrowing some StoredState & ~Copyable
    ) throws -> Int {
        guard case .toMany(let relationship) = subject.entity.slots[slot] else { return 0 }
        var count = 0
        try forEachMember(of: subject, slot, in: state) { if !isDoomed($0, relationship.destination) { count += 1 } }
        return count
    }
}
