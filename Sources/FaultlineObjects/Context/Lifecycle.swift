internal import FaultlineStore

/// The `ObjectLifecycle` of one class, or the `EntityLifecycle` of one entity, for objects whose class is known only at
/// run time.
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

/// The user code that a save is calling.
enum SavePhase {
    case none
    case telling
    case validating

    /// How many rounds of `willSave` calls may follow because objects change each other.
    static let roundMax = 1_000

    var name: String {
        switch self {
        case .none: "no code"
        case .telling: "an object's willSave, or an observer of it"
        case .validating: "an object's validation"
        }
    }
}

extension ObjectHandle {
    fileprivate var entityName: String { core.pointee.home._withUnsafeGuaranteedRef { $0.entityName } }

    var lifecycle: Lifecycle? { core.pointee.home._withUnsafeGuaranteedRef { $0.lifecycle } }
}

extension ContextCore {
    /// Whether any entity has lifecycle code to call; a migration calls none.
    var callsLifecycles: Bool { homes.haveLifecycles && stage == nil }

    func setLifecycle(_ lifecycle: EntityLifecycle?, forEntityNamed name: String) {
        do {
            _ = try requireDynamic(name)
            home(named: name)?.lifecycle = lifecycle.map(Lifecycle.init)
            homes.noteLifecycles()
        } catch {
            refuseSave(error)
        }
    }

    /// Calls `awakeFromInsert` of a new object, unless it was called before.
    func awake(_ handle: ObjectHandle) {
        guard callsLifecycles, let lifecycle = handle.lifecycle, !handle.core.pointee.has(.awake) else { return }
        handle.core.pointee.insert(.awake)
        lifecycle.awakeFromInsert(handle.object)
    }

    /// - Throws: If lifecycle code or an observer calls a save during a save: the outer save throws the error, too.
    func checkIsNotSaving() throws {
        guard saving.phase != .none else { return }
        let error = SwiftDataError.modelValidationFailure.explained(
            "A save was called by \(saving.phase.name), while the context is being saved. Leave the call out.")
        refuseSave(error)
        throw error
    }

    /// Whether user code may now undo changes, insert or delete: not during validation; a refusal makes the save throw.
    func mayRearrange(_ call: @autoclosure () -> String) -> Bool {
        guard saving.phase == .validating else { return true }
        refuseSave(
            SwiftDataError.modelValidationFailure.explained(
                "\(call()) was called by \(saving.phase.name), which may only read. Do it in willSave."))
        return false
    }

    /// Calls `willSave` once for each object that will be saved, including those that change during the calls.
    ///
    /// - Returns: All objects that were called.
    func tellWillSave() throws -> [ObjectHandle] {
        guard callsLifecycles else { return [] }
        saving.phase = .telling
        defer { saving.phase = .none }
        var told: [ObjectHandle] = []
        var known: Set<ObjectIdentifier> = []
        var toldCount: Int
        var roundCount = 0
        repeat {
            toldCount = told.count
            roundCount += 1
            guard roundCount <= SavePhase.roundMax else {
                throw SwiftDataError.modelValidationFailure.explained(
                    "willSave of \(told.last?.entityName ?? "") has changed or inserted other objects \(SavePhase.roundMax) times in a row: each of them is told too, so this would not end."
                )
            }
            // A `willSave` method may undo changes of other objects.
            for handle in pending.inserted + pending.changed + pending.deleted where isUnsaved(handle) {
                let isGoneAgain = handle.core.pointee.has(.inserted) && handle.core.pointee.has(.deleted)
                guard !isGoneAgain, let lifecycle = handle.lifecycle,
                    known.insert(ObjectIdentifier(handle.object)).inserted
                else { continue }
                told.append(handle)
                lifecycle.willSave(handle.object)
            }
        } while told.count > toldCount
        if let error = errors.refusals.next() { throw error }
        return told
    }

    /// Whether a save would write an object.
    func isUnsaved(_ handle: ObjectHandle) -> Bool {
        handle.core.pointee.has(.inserted) || handle.core.pointee.has(.changed) || handle.core.pointee.has(.deleted)
    }

    /// Calls the validation of objects and collects their findings.
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
        saving.phase = .validating
        defer { saving.phase = .none }
        for handle in pending.inserted where !handle.core.pointee.has(.deleted) { ask(handle, .insert) }
        for handle in pending.changed where !handle.core.pointee.has(.deleted) { ask(handle, .update) }
        for handle in pending.deleted { ask(handle, .delete) }
    }
}
