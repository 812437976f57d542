internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

extension ContextCore {
    // MARK: Insert

    /// Takes a detached object, and all it refers to, into the context.
    ///
    /// - Returns: False if it cannot be taken.
    @discardableResult
    func insert(_ handle: ObjectHandle) -> Bool {
        if handle.core.pointee.has(.attached) {
            guard handle.core.pointee.context === self else {
                refuseSave(
                    SwiftDataError.modelValidationFailure.explained(
                        "An object of another context was inserted. Fetch it in this context, by its persistentModelID."
                    ))
                return false
            }
            if handle.core.pointee.has(.deleted) { undelete(handle) }
            return true
        }
        guard let type = handle.core.pointee.modelType, let home = home(of: type) else {
            refuseSave(
                SwiftDataError.unknownSchema.explained(
                    "\(handle.core.pointee.className) was inserted, but it is not among the models of this container."
                ))
            return false
        }
        attach(handle, home)
        return true
    }

    /// The same for an object whose class is known when compiling.
    @inline(__always)
    func insert<T: PersistentModel>(model: T) {
        let handle = ObjectHandle(model)
        guard !handle.core.pointee.has(.attached), let home = home(of: T._$modelType) else {
            insert(handle)
            return
        }
        attach(handle, home)
    }

    /// Takes a new object in, and whatever can be reached from it: one after the other, because a chain may be longer
    /// than the stack is deep.
    private func attach(_ handle: ObjectHandle, _ home: EntityHome) {
        guard !isAbandoned else { return }
        enter(handle, home)
        guard handle.core.pointee.extraIfPresent != nil else { return }
        let isFirst = arriving.isEmpty
        arriving.append(handle)
        guard isFirst else { return }
        var place = 0
        while place < arriving.count {
            settle(arriving[place])
            place += 1
        }
        arriving.removeAll()
    }

    private func enter(_ handle: ObjectHandle, _ home: EntityHome) {
        _ = Unmanaged.passUnretained(self).retain()
        let number = handle.core.pointee.number
        handle.core.pointee.attach(
            to: Unmanaged.passUnretained(home), number: number == 0 ? TemporaryNumber.next() : number)
        if handle.core.pointee.draftPointer == nil {
            handle.core.pointee.draftPointer = Draft.create(layout: home.type?.layout ?? home.layout).block
        }
        if handle.core.pointee.hasExtra { handle.core.pointee.enterObservation() }
        inserted.append(handle)
        noteUnsaved()
    }

    /// Makes the relationships that an object was given while it was in no context.
    private func settle(_ handle: ObjectHandle) {
        guard handle.core.pointee.hasExtra, let extra = handle.core.pointee.extraIfPresent else { return }
        handle.core.pointee.remove(.changed)
        if let refusal = extra.refusal {
            extra.refusal = nil
            refuseSave(refusal)
        }
        handle.core.pointee.settleBlobs()
        extra.targets.forEach { slot, target in setTarget(of: handle, slot, to: target) }
        if extra.members.isEmpty, extra.adoptedBlobs.isEmpty {
            handle.core.pointee.dropExtra()
            return
        }
        for (slot, members) in extra.members.sorted(by: { $0.key < $1.key }) {
            var wanted = members.compactMap { ($0 as? any PersistentModel).map(Self.handle) }
            // Those that joined from their side stay.
            wanted += memberObjects(of: handle, slot).compactMap { ($0 as? any PersistentModel).map(Self.handle) }
            setMembers(of: handle, slot, to: wanted)
        }
        extra.targets = SlotTargets()
        extra.members.removeAll()
        if extra.adoptedBlobs.isEmpty { handle.core.pointee.dropExtra() }
    }

    private static func handle(_ model: any PersistentModel) -> ObjectHandle {
        func open<T: PersistentModel>(_ model: T) -> ObjectHandle { ObjectHandle(model) }
        return open(model)
    }

    // MARK: Delete

    /// Marks an object to be deleted by the next save; an unsaved one leaves the context.
    func delete(_ handle: ObjectHandle) {
        guard handle.core.pointee.context === self, !handle.core.pointee.isDeleted else { return }
        handle.core.pointee.insert(.deleted)
        if handle.core.pointee.has(.inserted) { hasDeletedInserts = true } else { deleted.append(handle) }
        noteUnsaved()
        noteDeletion(of: handle)
    }

    private func undelete(_ handle: ObjectHandle) {
        handle.core.pointee.remove(.deleted)
        deleted.removeAll { $0.object === handle.object }
        noteDeletion(of: handle)
    }

    /// Carries deletes on by the delete rules, until nothing new is deleted; then lets go of unsaved objects that were
    /// deleted.
    ///
    /// - Throws: `modelValidationFailure` if a rule denies a delete; nothing is saved then.
    func propagateDeletes() throws {
        guard !deleted.isEmpty || hasDeletedInserts else { return }
        try beginReading()
        defer { endReading() }
        var place = 0
        var unsaved = inserted.filter { $0.core.pointee.has(.deleted) }
        var unsavedPlace = 0
        while place < deleted.count || unsavedPlace < unsaved.count {
            let handle: ObjectHandle
            if place < deleted.count {
                handle = deleted[place]
                place += 1
            } else {
                handle = unsaved[unsavedPlace]
                unsavedPlace += 1
            }
            try propagate(handle) { member in
                guard !member.core.pointee.isDeleted else { return }
                delete(member)
                if member.core.pointee.has(.inserted) { unsaved.append(member) }
            }
        }
        hasDeletedInserts = false
        guard !unsaved.isEmpty else { return }
        inserted.removeAll { $0.core.pointee.has(.deleted) }
        insertedPlaces = nil
        unsaved.forEach(leavePartners)
        relationships.forget(Set(unsaved.map(\.reference)))
        unsaved.forEach(sendAway)
    }

    /// Takes an unsaved object out of what its to-one relationships lead to.
    private func leavePartners(_ handle: ObjectHandle) {
        guard let entity = handle.core.pointee.home.takeUnretainedValue().entity else { return }
        for (slot, storage) in entity.slots.enumerated() {
            if case .toOne = storage { setTarget(of: handle, slot, to: nil) }
        }
    }

    /// Takes an unsaved object out of the context.
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

    /// Lets go of what the context holds, when the user's context is gone: unsaved objects leave it, changed ones show
    /// their changes for as long as they live.
    package func abandonChanges() {
        isAbandoned = true
        inserted.forEach(sendAway)
        forgetChanges()
    }

    private func propagate(_ handle: ObjectHandle, cascade: (ObjectHandle) -> Void) throws {
        let home = handle.core.pointee.home.takeUnretainedValue()
        guard let entity = home.entity else { return }
        for (slot, storage) in entity.slots.enumerated() {
            let rule: Schema.Relationship.DeleteRule
            let destination: Int
            var members: [AnyObject] = []
            switch storage {
            case .attribute:
                continue
            case .toOne(let relationship):
                rule = relationship.deleteRule
                destination = relationship.destination
                if let target = target(of: &handle.core.pointee, slot) { members = [target] }
            case .toMany(let relationship):
                rule = relationship.deleteRule
                destination = relationship.destination
                members = memberObjects(of: handle, slot)
            }
            let handles = members.compactMap { self.handle(of: $0, homes[destination]) }.filter {
                !$0.core.pointee.isDeleted
            }
            guard !handles.isEmpty else { continue }
            switch rule {
            case .noAction:
                continue
            case .cascade:
                handles.forEach(cascade)
                if case .toMany(let relationship) = storage, case .link = relationship.members {
                    setMembers(of: handle, slot, to: [])
                }
            case .deny:
                let name = store.storage.schema.entities[entity.ordinal].properties[slot].name
                throw SwiftDataError.modelValidationFailure.explained(
                    "\(entity.name) \(handle.core.pointee.number) cannot be deleted: its relationship \(name) denies it while it has \(handles.count) objects. Delete or move them first. Nothing was saved."
                )
            case .nullify:
                nullify(handle, entity, slot, storage, handles)
            }
        }
    }

    /// Clears what points back to an object that is deleted.
    private func nullify(
        _ handle: ObjectHandle, _ entity: EntityStorage, _ slot: Int, _ storage: SlotStorage, _ members: [ObjectHandle]
    ) {
        switch storage {
        case .attribute:
            break
        case .toOne(let relationship):
            guard case .toOne(let inverse) = relationship.inverse else { break }
            for member in members { setTarget(of: member, inverse, to: nil) }
        case .toMany(let relationship):
            switch relationship.members {
            case .inverse(let inverse, _):
                for member in members { setTarget(of: member, inverse, to: nil) }
            case .link:
                setMembers(of: handle, slot, to: [])
            }
        }
    }
}
