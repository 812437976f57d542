internal import FaultlineLog
internal import FaultlineStore

extension ContextCore {
    // MARK: Insert

    /// Inserts a detached object, and all objects it refers to, into the context.
    ///
    /// - Parameters:
    ///   - handle: The object.
    ///   - isInitial: Whether its initializer is still running, so that none of its code may be called.
    /// - Returns: False if it cannot be inserted.
    @discardableResult
    func insert(_ handle: ObjectHandle, isInitial: Bool = false) -> Bool {
        if !pending.initializing.unawakened.isEmpty { awakeArrived() }
        if handle.core.pointee.has(.attached) {
            guard belongsHere(handle, "inserted") else { return false }
            if handle.core.pointee.has(.deleted) { undelete(handle) }
            return !refusesAbsent(handle)
        }
        guard let type = handle.core.pointee.modelType, let home = home(of: type) else {
            refuseSave(
                SwiftDataError.unknownSchema.explained(
                    "\(handle.core.pointee.className) was inserted, but it is not among the models of this container."
                ))
            return false
        }
        attach(handle, home, isInitial: isInitial)
        return true
    }

    /// The same for an object whose class is known at compile time.
    @inline(__always)
    func insert<T: PersistentModel>(model: T) {
        let handle = ObjectHandle(model)
        guard !handle.core.pointee.has(.attached), let home = home(of: T._$modelType) else {
            insert(handle)
            return
        }
        attach(handle, home)
    }

    /// Inserts a new object and all objects that it reaches: iteratively, because a chain may be longer than the stack
    /// is deep.
    private func attach(_ handle: ObjectHandle, _ home: EntityHome, isInitial: Bool = false) {
        guard !owner.isAbandoned, mayRearrange("insert") else { return }
        enter(handle, home)
        if isInitial {
            handle.core.pointee.insert(.initializing)
            pending.initializing.areThere = true
            if homes.haveLifecycles { pending.initializing.unawakened.append(handle) }
        }
        guard handle.core.pointee.extraIfPresent != nil else {
            if homes.haveLifecycles, !isInitial { awake(handle) }
            return
        }
        let isFirst = pending.arriving.isEmpty
        pending.arriving.append(handle)
        guard isFirst else { return }
        var place = 0
        while place < pending.arriving.count {
            settle(pending.arriving[place])
            place += 1
        }
        let arrived = homes.haveLifecycles ? pending.arriving : []
        pending.arriving.removeAll()
        for arrived in arrived where !isInitial || arrived.object !== handle.object { awake(arrived) }
    }

    /// Whether an object that is related to one of this context is inserted too: not if a migration stage names each
    /// new object, and may drop it.
    var takesRelatedObjects: Bool { !owner.isAbandoned && !rules.refusesUpserts && !rules.isSavedByStage }

    /// Calls the lifecycle code of objects that were inserted while their initializers ran.
    func awakeArrived() {
        let handles = pending.initializing.unawakened
        pending.initializing.unawakened.removeAll()
        handles.forEach(awake)
    }

    /// Forgets an object whose initializer failed after it had been related to an object of the context.
    ///
    /// - Parameters:
    ///   - number: Its temporary number.
    ///   - draft: Its values.
    ///   - home: Its home.
    func forgetUnfinished(_ number: UInt64, _ draft: Draft, _ home: EntityHome) {
        let reference = ObjectReference(number: number, isTemporary: true)
        for slot in home.entity?.toOneSlots ?? [] {
            guard case .toOne(let relationship)? = home.entity?.slots[slot],
                case .toOne(let inverse) = relationship.inverse,
                let partner = partner(ObjectReference(bits: draft.toOne(slot)), homes[relationship.destination]),
                self.reference(of: partner, inverse) == reference
            else { continue }
            _ = write(partner, inverse, ObjectReference(bits: 0))
        }
        pending.relationships.forget([reference])
        pending.initializing.unawakened.removeAll { $0.reference == reference }
        pending.inserted.removeAll { $0.reference == reference }
        memberArrays.removeAll()
        if !hasChanges { noteSaved() }
    }

    private func enter(_ handle: ObjectHandle, _ home: EntityHome) {
        handle.core.pointee.settleAllDetached()
        _ = Unmanaged.passUnretained(self).retain()
        let number = handle.core.pointee.number
        handle.core.pointee.attach(
            to: Unmanaged.passUnretained(home), number: number == 0 ? TemporaryNumber.next() : number)
        if handle.core.pointee.draftPointer == nil {
            handle.core.pointee.draftPointer = Draft.create(layout: home.type?.layout ?? home.layout).block
        }
        if handle.core.pointee.hasExtra { handle.core.pointee.enterObservation() }
        pending.inserted.append(handle)
        noteUnsaved()
    }

    /// Makes the relationships that an object was given before it was in a context.
    private func settle(_ handle: ObjectHandle) {
        guard handle.core.pointee.hasExtra, let extra = handle.core.pointee.extraIfPresent else { return }
        handle.core.pointee.remove(.changed)
        if let refusal = extra.refusal {
            extra.refusal = nil
            refuseSave(refusal)
        }
        handle.core.pointee.settleBlobs()
        let referrers = extra.referrers
        extra.referrers.removeAll()
        for referrer in referrers { insert(referrer.handle) }
        extra.targets.forEach { slot, target in setTarget(of: handle, slot, to: target) }
        if extra.members.isEmpty, extra.adoptedBlobs.isEmpty {
            handle.core.pointee.dropExtra()
            return
        }
        for (slot, array) in extra.members.sorted(by: { $0.key < $1.key }) {
            // Members that joined from their own side stay.
            let wanted = (array.members + memberObjects(of: handle, slot)).compactMap {
                ($0 as? any PersistentModel).map(ObjectHandle.init(erased:))
            }
            setMembers(of: handle, slot, to: wanted)
        }
        extra.targets = SlotTargets()
        extra.members.removeAll()
        if extra.adoptedBlobs.isEmpty { handle.core.pointee.dropExtra() }
    }

    // MARK: Delete

    /// Marks an object to be deleted by the next save; an unsaved one leaves the context.
    func delete(_ handle: ObjectHandle) {
        guard belongsHere(handle, "deleted"), !handle.core.pointee.isDeleted, mayRearrange("delete") else { return }
        errors.refusals.settle(handle.core, nil)
        settleMembers()
        forgetMemberArrays(of: handle.core.pointee.home.takeUnretainedValue())
        handle.core.pointee.insert(.deleted)
        if handle.core.pointee.has(.inserted) {
            pending.hasDeletedInserts = true
        } else {
            pending.deleted.append(handle)
            if conflicts != nil { keepOriginal(ofDeleted: handle) }
        }
        noteUnsaved()
        noteDeletion(of: handle)
    }

    /// Whether an object is in this context; an object of another context makes the next save throw.
    func belongsHere(_ handle: ObjectHandle, _ verb: String) -> Bool {
        guard let context = handle.core.pointee.context else { return false }
        if context === self { return true }
        refuseSave(
            SwiftDataError.modelValidationFailure.explained(
                "An object of another context was \(verb). Fetch it in this context, by its persistentModelID."))
        return false
    }

    func undelete(_ handle: ObjectHandle) {
        forgetMemberArrays(of: handle.core.pointee.home.takeUnretainedValue())
        handle.core.pointee.remove(.deleted)
        pending.deleted.remove(handle)
        noteDeletion(of: handle)
    }

    /// Removes an unsaved object from the context.
    ///
    /// It keeps its attributes; its references belong to the context.
    func sendAway(_ handle: ObjectHandle) {
        let home = handle.core.pointee.home.takeUnretainedValue()
        guard let type = home.type else { return }
        if let entity = home.entity {
            for (slot, storage) in entity.slots.enumerated() {
                guard case .toOne = storage else { continue }
                handle.core.pointee.write {
                    $0.setToOne(slot, 0)
                    if $0.orderKey(slot) != nil { $0.setOrderKey(slot, nil) }
                }
            }
        }
        handle.core.pointee.leaveObservation()
        handle.core.pointee.detach(to: type.detachedHome)
        Unmanaged.passUnretained(self).release()
    }

    /// Releases the context's objects when the user's context is gone: unsaved objects leave it, changed ones keep
    /// showing their changes.
    package func abandonChanges() {
        settleMembers()
        errors.refusals.removeAll()
        owner.isAbandoned = true
        pending.inserted.forEach(sendAway)
        forgetChanges()
    }
}
