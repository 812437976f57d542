internal import FaultlineStore

/// `ObjectLifecycle` of one class, or `EntityLifecycle` of one entity, for objects whose class is known at run time only.
struct Lifecycle {
    enum Change { case insert, update, delete }

    let awakeFromInsert: (AnyObject) -> Void
    let willSave: (AnyObject) -> Void
    let didSave: (AnyObject) -> Void
    let validate: (AnyObject, Change) throws -> Void

    init<T: ObjectLifecycle>(_ type: T.Type) {
        // Safe because a home's objects are of its class.
        let typed = { (object: AnyObject) in unsafeDowncast(object, to: T.self) }
        awakeFromInsert = { typed($0).awakeFromInsert() }
        willSave = { typed($0).willSave() }
        didSave = { typed($0).didSave() }
        validate = { object, change in
            switch change {
            case .insert: try typed(object).validateForInsert()
            case .update: try typed(object).validateForUpdate()
            case .delete: try typed(object).validateForDelete()
            }
        }
    }

    init(_ lifecycle: EntityLifecycle) {
        // Safe because the home's objects have no class of their own.
        let dynamic = { (object: AnyObject) in unsafeDowncast(object, to: ManagedObject.self) }
        awakeFromInsert = { lifecycle.awakeFromInsert?(dynamic($0)) }
        willSave = { lifecycle.willSave?(dynamic($0)) }
        didSave = { lifecycle.didSave?(dynamic($0)) }
        validate = { object, change in
            switch change {
            case .insert: try lifecycle.validateForInsert?(dynamic(object))
            case .update: try lifecycle.validateForUpdate?(dynamic(object))
            case .delete: try lifecycle.validateForDelete?(dynamic(object))
            }
        }
    }
}

extension ObjectHandle {
    var lifecycle: Lifecycle? { core.pointee.home._withUnsafeGuaranteedRef { $0.lifecycle } }
}

extension ContextCore {
    /// Whether any entity has code to be called; in a migration none is.
    var callsLifecycles: Bool { hasLifecycles && stage == nil }

    func setLifecycle(_ lifecycle: EntityLifecycle?, forEntityNamed name: String) {
        do {
            _ = try requireDynamic(name)
            home(named: name)?.lifecycle = lifecycle.map(Lifecycle.init)
            hasLifecycles = homes.contains { $0.lifecycle != nil }
        } catch {
            refuseSave(error)
        }
    }

    /// Tells a new object that it was taken in, unless it was told before.
    func awake(_ handle: ObjectHandle) {
        guard callsLifecycles, let lifecycle = handle.lifecycle, !handle.core.pointee.has(.awake) else { return }
        handle.core.pointee.insert(.awake)
        lifecycle.awakeFromInsert(handle.object)
    }

    /// - Throws: If a save is called by an object that is told of another: that one throws it, too.
    func checkIsNotSaving() throws {
        guard isTellingWillSave else { return }
        let error = SwiftDataError.modelValidationFailure.explained(
            "save was called by an object's willSave, while its context is being saved. Leave the call out.")
        refuseSave(error)
        throw error
    }

    /// Tells all objects that will be saved, each once, those that are changed meanwhile too.
    ///
    /// - Returns: All that were told.
    func tellWillSave() throws -> [ObjectHandle] {
        guard callsLifecycles else { return [] }
        isTellingWillSave = true
        defer { isTellingWillSave = false }
        var told: [ObjectHandle] = []
        var known: Set<ObjectIdentifier> = []
        var toldCount: Int
        repeat {
            toldCount = told.count
            for handle in inserted + changed + deleted {
                let isGoneAgain = handle.core.pointee.has(.inserted) && handle.core.pointee.has(.deleted)
                guard !isGoneAgain, let lifecycle = handle.lifecycle,
                    known.insert(ObjectIdentifier(handle.object)).inserted
                else { continue }
                told.append(handle)
                lifecycle.willSave(handle.object)
            }
        } while told.count > toldCount
        if let error = takePendingError() { throw error }
        return told
    }

    /// Asks objects what is wrong with them.
    func addFindingsOfClasses(_ deletion: DeletionWalk?, to findings: inout FindingList) {
        guard callsLifecycles else { return }
        func ask(_ handle: ObjectHandle, _ change: Lifecycle.Change) {
            guard let lifecycle = handle.lifecycle,
                let entity = handle.core.pointee.home.takeUnretainedValue().entity,
                change == .delete || deletion?.isDoomed(handle) != true
            else { return }
            do { try lifecycle.validate(handle.object, change) } catch {
                let object = identifier(of: handle.reference, entity)
                let invalid = error as? InvalidValue
                let place = [entity.name, invalid?.propertyName].compactMap { $0 }.joined(separator: ".")
                findings.add(
                    ValidationFinding(
                        object, invalid?.propertyName, .custom,
                        "\(place) \(handle.reference.number): \(invalid?.description ?? "\(error)")"))
            }
        }
        for handle in inserted where !handle.core.pointee.has(.deleted) { ask(handle, .insert) }
        for handle in changed where !handle.core.pointee.has(.deleted) { ask(handle, .update) }
        for handle in deleted { ask(handle, .delete) }
    }
}
