internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

/// A to-many relationship of an object, read and changed one member at a time: for collections that are too large to
/// hold in memory, and to add a member without reading the others.
///
///     for number in 0..<100_000 { album.relationship(\.pictures).insert(Picture(number)) }
///
/// Changes made here are visible in the property at once, and the reverse; so are those of inverses. It belongs to one
/// thread at a time, like its object. Errors are reported to the context's error handler, as for getters.
public struct ToManyRelationship<Member: PersistentModel>: Sequence {
    private static var pageCount: Int { 256 }

    private let owner: ObjectHandle
    /// The class whose slot is known; nil for an object without a class.
    private let type: ModelType?
    private let slotInClass: Int
    /// Checks a member, where the compiler does not; nil if it does.
    private let fit: RelationshipFit?

    init(_ owner: ObjectHandle, _ slot: Int, of type: ModelType?, _ fit: RelationshipFit? = nil) {
        self.owner = owner
        self.type = type
        self.fit = fit
        slotInClass = slot
    }

    /// The slot in the object: in a hierarchy it is another one when the object joins a context, or leaves it.
    private var slot: Int { owner.core.pointee.joinedSlot(slotInClass, of: type) }

    /// The owner's context, after all changes in place are settled.
    private var context: ContextCore? {
        let context = owner.core.pointee.context
        context?.settleMembers()
        return context
    }

    /// The number of members; no object is made.
    ///
    /// - Complexity: O(members) entries of the index; O(1) if they were counted or collected since the context's state
    ///   and the members last changed.
    public var count: Int {
        owner.core.pointee.noteRead(slot)
        guard let context else { return detached.count }
        return reporting(0) { try MemberReader(context).memberCount(owner, slot) }
    }

    /// Whether there are no members.
    public var isEmpty: Bool {
        var iterator = makeIterator(pageCount: 1)
        return iterator.next() == nil
    }

    /// Whether an object is a member.
    ///
    /// - Complexity: O(1) if the inverse is to-one. Between collections, O(links) of the object that has fewer of them.
    public func contains(_ member: Member) -> Bool {
        owner.core.pointee.noteRead(slot)
        guard let context else { return detached.contains { $0 === member } }
        return reporting(false) { try MemberReader(context).hasMember(owner, slot, ObjectHandle(member)) }
    }

    /// Adds an object at the end; if the inverse is to-one, an object of another owner is removed from it.
    ///
    /// - Returns: False if it was a member already, or cannot be one: then the next save throws.
    /// - Complexity: As `contains`; the save adds O(log members), and between collections O(members) once for each
    ///   collection. In no context O(1).
    @discardableResult
    public func insert(_ member: Member) -> Bool {
        do throws(KeyedValueError) { _ = try fit?.handle(of: member) } catch {
            owner.core.pointee.refuse("\(owner.ofClass.entityName): a relationship \(error.message)")
            return false
        }
        guard let context else { return owner.core.pointee.appendDetached(slot, ObjectHandle(member)) }
        return changing { try RelationshipEditor(context).addMember(ObjectHandle(member), to: owner, slot) }
    }

    /// Removes an object.
    ///
    /// - Returns: False if it was no member.
    /// - Complexity: As `insert`.
    @discardableResult
    public func remove(_ member: Member) -> Bool {
        guard let context else {
            let members = detached
            let rest = members.filter { $0 !== member }
            guard rest.count < members.count else { return false }
            owner.core.pointee.setValue(slot, to: rest)
            return true
        }
        return changing { try RelationshipEditor(context).removeMember(ObjectHandle(member), from: owner, slot) }
    }

    /// The members in their order, a page of 256 at a time.
    ///
    /// The iterator releases a page before the next. Members that join, leave or move during the walk may be returned
    /// or not; a member is returned twice only if it moved.
    ///
    /// - Complexity: O(1); a walk takes O(m) for m members, and memory for 256 of them.
    public func makeIterator() -> Iterator { makeIterator(pageCount: Self.pageCount) }

    private func makeIterator(pageCount: Int) -> Iterator {
        owner.core.pointee.noteRead(slot)
        return Iterator(owner, slot, pageCount, context == nil ? detached : nil)
    }

    /// Members of an object that is in no context.
    private var detached: [Member] {
        if Member.self == ManagedObject.self { return owner.core.pointee.viewedMembers(slot) as? [Member] ?? [] }
        return owner.core.pointee.value(slot)
    }

    /// An object as a member; nil for one of another class.
    private static func member(_ object: AnyObject) -> Member? {
        Member.self == ManagedObject.self ? ManagedObject.view(of: object) as? Member : object as? Member
    }

    private func reporting<R>(_ standIn: R, _ body: () throws -> R) -> R {
        do { return try body() } catch {
            context?.noteUnreadable(&owner.core.pointee, error)
            return standIn
        }
    }

    private func changing(_ body: () throws -> Bool) -> Bool {
        do { return try body() } catch {
            context?.refuseSave(error)
            return false
        }
    }

    /// Walks over the members, a page at a time.
    public struct Iterator: IteratorProtocol {
        private let owner: ObjectHandle
        private let slot: Int
        private let pageCount: Int
        private var page: [Member] = []
        private var place = 0
        private var walk = MemberWalk()
        private var isOver = false

        fileprivate init(_ owner: ObjectHandle, _ slot: Int, _ pageCount: Int, _ detached: [Member]?) {
            self.owner = owner
            self.slot = slot
            self.pageCount = pageCount
            guard let detached else { return }
            page = detached
            isOver = true
        }

        /// The next member; nil at the end, and if the store cannot be read.
        ///
        /// - Complexity: O(1); each 256th call reads a page of the index.
        public mutating func next() -> Member? {
            if place < page.count {
                place += 1
                return page[place - 1]
            }
            guard !isOver, let context = owner.core.pointee.context else { return nil }
            page = []
            do {
                page = try MemberReader(context).nextMembers(&walk, of: owner, slot, limit: pageCount).compactMap(
                    ToManyRelationship.member)
            } catch {
                context.noteUnreadable(&owner.core.pointee, error)
            }
            isOver = page.isEmpty
            place = page.isEmpty ? 0 : 1
            return page.first
        }
    }
}

extension PersistentModel {
    /// A to-many relationship, without reading its members.
    public func relationship<Member: PersistentModel>(
        _ keyPath: KeyPath<Self, [Member]>
    ) -> ToManyRelationship<Member> {
        ToManyRelationship(ObjectHandle(self), toManySlot(keyPath), of: Self._$modelType)
    }

    /// A to-many relationship that is declared optional, without reading its members.
    public func relationship<Member: PersistentModel>(
        _ keyPath: KeyPath<Self, [Member]?>
    ) -> ToManyRelationship<Member> {
        ToManyRelationship(ObjectHandle(self), toManySlot(keyPath), of: Self._$modelType)
    }

    private func toManySlot(_ keyPath: AnyKeyPath) -> Int {
        guard let slot = Self._$modelType.slots[keyPath] else {
            preconditionFailure("\(Self.self) has no stored relationship at that key path.")
        }
        return slot
    }
}

extension ManagedObject {
    /// A to-many relationship by its name, without reading its members; nil if the entity has none of that name, which
    /// is reported to the context's `errorHandler`.
    public func relationship(forKey key: String) -> ToManyRelationship<ManagedObject>? {
        guard let found = keyed(key) else { return nil }
        guard let relationship = found.property.asRelationship, !relationship.isToOneRelationship else {
            report("\(entityName).\(key) is no to-many relationship.")
            return nil
        }
        let owner = ObjectHandle(self)
        let fit = RelationshipFit(relationship, of: type)
        guard !type.isDynamic else { return ToManyRelationship(owner, found.slot, of: nil, fit) }
        // The slot of the class, in a context or not.
        let ofClass = owner.ofClass
        let own = ofClass.slotsByName[key] ?? found.slot
        return ToManyRelationship(owner, own, of: ofClass, fit)
    }
}
