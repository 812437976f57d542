internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

/// A failure of a getter, which cannot throw.
enum GetterFailure {
    case unreadable(LogError)
    case undecodable(slot: Int, any Error)
    case unencodable(slot: Int, any Error)
    case unknownCase(slot: Int)
    case unknownURL(slot: Int)
    case missingTarget(slot: Int)
}

extension ModelCore {
    /// Reports a failure to the context; marks the object if a placeholder has replaced its value.
    mutating func report(_ failure: GetterFailure) {
        let name = home._withUnsafeGuaranteedRef { $0.entityName }
        func property(_ slot: Int) -> String {
            guard let entity = home.takeUnretainedValue().entity, let context else {
                let name = modelType.flatMap { slot < $0.properties.count ? $0.properties[slot].name : nil }
                return name ?? "property \(slot)"
            }
            let properties = context.store.storage.schema.entities[entity.ordinal].properties
            return slot < properties.count ? properties[slot].name : "property \(slot)"
        }
        let error: any Error
        var isOfStore = true
        switch failure {
        case .unreadable(let cause):
            error = cause
            // An expired context does not make the object damaged.
            if cause.code != .expired { insert(.damaged) }
        case .undecodable(let slot, let cause):
            error = SwiftDataError.modelValidationFailure.explained(
                "\(name).\(property(slot)) of object \(number) does not decode: \(cause). A stand-in was given."
            ).about(name, property(slot))
            insert(.damaged)
        case .unencodable(let slot, let cause):
            error = SwiftDataError.modelValidationFailure.explained(
                "\(name).\(property(slot)) was set to a value that does not encode: \(cause)."
            ).about(name, property(slot))
            return refuse(error, slot)
        case .unknownCase(let slot):
            error = SwiftDataError.modelValidationFailure.explained(
                "\(name).\(property(slot)) of object \(number) has a raw value without a case in this program. A stand-in was given; refresh the object without merging before it is changed."
            ).about(name, property(slot))
            if has(.attached), !has(.inserted) { insert(.damaged) }
        case .unknownURL(let slot):
            error = SwiftDataError.modelValidationFailure.explained(
                "\(name).\(property(slot)) of object \(number) has a text that is no URL. A stand-in was given; refresh the object without merging before it is changed."
            ).about(name, property(slot))
            insert(.damaged)
        case .missingTarget(let slot):
            error = SwiftDataError.modelValidationFailure.explained(
                "\(name).\(property(slot)) of object \(number) refers to no object. A stand-in was given."
            ).about(name, property(slot))
            isOfStore = false
        }
        context?.report(error, isOfStore: isOfStore)
    }

    /// Makes the next save of the object's context throw, because a change could not be made; for an object in no
    /// context, the first save after its insertion.
    mutating func refuse(_ text: String) { refuse(SwiftDataError.modelValidationFailure.explained(text)) }

    /// The same, where the change is one of a slot: until that is set again.
    mutating func refuse(_ error: any Error, _ slot: Int? = nil) {
        if let core = canonicalCore { return core.pointee.refuse(error, slot) }
        if let context {
            guard let slot else { return context.refuseSave(error) }
            return context.refuseSave(error, ObjectHandle(core: &self), slot)
        }
        if extra.refusal == nil { extra.refusal = (error, slot) }
    }

    /// Forgets the refused change of a slot that is set again while the object is in no context.
    mutating func forgetRefusal(_ slot: Int) {
        guard let extra = extraIfPresent, extra.refusal?.slot == slot else { return }
        extra.refusal = nil
    }

    /// Makes saves fail, because a change of a slot would be lost, or would overwrite values that were not read.
    mutating func refuseChange(_ slot: Int, _ why: String) {
        guard let context else { return }
        let name = home._withUnsafeGuaranteedRef { $0.entityName }
        let error = SwiftDataError.modelValidationFailure.explained("\(name) \(number) \(why). Fetch it again.")
        context.refuseSave(error, ObjectHandle(core: &self), slot)
    }

    /// Notes that a slot, whose change may have been refused, is set again.
    mutating func settleRefusal(_ slot: Int) {
        let own = ObjectHandle(core: &self)
        own.core.pointee.context?.errors.refusals.settle(own.core, slot)
    }
}

// Objects that another context or a batch has deleted.

extension ModelCore {
    /// Marks an object whose row is no longer in the store; an object that this context has deleted keeps its mark.
    mutating func becomeDeletedElsewhere() {
        if !has(.gone) { insert(.deletedElsewhere) }
        insert(.gone)
        context?.state.hasGoneObjects = true
    }

    /// Looks up the row of an object without unsaved values, and returns whether another save has deleted it.
    @inline(__always)
    mutating func isFoundDeletedElsewhere() -> Bool {
        guard draftPointer == nil, has(.attached) else { return false }
        if has(.deletedElsewhere) { return true }
        return loadedRow() == nil && has(.deletedElsewhere)
    }

    /// Makes the next save fail, because a change of this object would be lost; not if the merge policy drops such
    /// changes.
    ///
    /// - Returns: Whether another save has deleted the object, so that it cannot be changed.
    mutating func refusesAsDeletedElsewhere() -> Bool {
        guard has(.deletedElsewhere), draftPointer == nil else { return false }
        guard !has(.deleted), let context else { return true }
        home._withUnsafeGuaranteedRef { home in
            if let entity = home.entity { context.refuseChange(ofDeletedElsewhere: number, entity) }
        }
        return true
    }
}

extension ContextCore {
    fileprivate func refuseChange(ofDeletedElsewhere number: RecordID, _ entity: EntityStorage) {
        let object = identifier(of: ObjectReference(number: number, isTemporary: false), entity)
        switch mergePolicy {
        case .mergeByPropertyStoreTrump, .rollback: break
        case .error:
            refuseNextSave(
                MergeConflictError(
                    conflicts: [MergeConflict(object: object, kind: .deletedElsewhere, properties: [])],
                    conflictCount: 1))
        case .mergeByPropertyObjectTrump, .overwrite:
            var findings = FindingList()
            findings.add(
                ValidationFinding(
                    object, nil, .deletedElsewhere,
                    "\(entity.name) \(number) was changed here after it was deleted elsewhere: roll back the change, or insert the object anew"
                ))
            refuseNextSave(SwiftDataError.refused(findings))
        }
    }
}
