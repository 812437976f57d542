internal import FaultlineStore

extension ObjectHandle {
    fileprivate var entityName: String { core.pointee.home._withUnsafeGuaranteedRef { $0.entityName } }

    var lifecycle: Lifecycle? { core.pointee.contextHome?._withUnsafeGuaranteedRef { $0.lifecycle } }
}

/// Calls the lifecycle code of a context's objects, and guards the context while it runs.
struct LifecycleCalls {
    let context: ContextCore

    init(_ context: ContextCore) { self.context = context }

    /// Whether any entity has lifecycle code to call; a migration calls none.
    var callsLifecycles: Bool { context.homes.haveLifecycles && context.stage == nil }

    func setLifecycle(_ lifecycle: EntityLifecycle?, forEntityNamed name: String) {
        do {
            let entity = try context.entity(named: name)
            let code = lifecycle.map { Lifecycle($0, inClass: entity.place, of: entity.type) }
            entity.home.setLifecycle(code, inClass: entity.place)
            context.homes.noteSetLifecycle()
        } catch {
            context.refuseSave(error)
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
        guard context.saving.phase != .none else { return }
        let error = SwiftDataError.modelValidationFailure.explained(
            "A save was called by \(context.saving.phase.name), while the context is being saved. Leave the call out.")
        context.refuseSave(error)
        throw error
    }

    /// Whether user code may now undo changes, insert or delete: not during validation; a refusal makes the save throw.
    func mayRearrange(_ call: @autoclosure () -> String) -> Bool {
        guard context.saving.phase == .validating else { return true }
        context.refuseSave(
            SwiftDataError.modelValidationFailure.explained(
                "\(call()) was called by \(context.saving.phase.name), which may only read. Do it in willSave."))
        return false
    }

    /// Calls `willSave` once for each object that will be saved, including those that change during the calls.
    ///
    /// - Returns: All objects that were called.
    func tellWillSave(after before: [ObjectHandle] = []) throws -> [ObjectHandle] {
        guard callsLifecycles else { return before }
        context.saving.phase = .telling
        defer { context.saving.phase = .none }
        var told = before
        var known = Set(before.map { ObjectIdentifier($0.object) })
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
            for handle in context.pending.inserted + context.pending.changed + context.pending.deleted
            where isUnsaved(handle) {
                let isGoneAgain = handle.core.pointee.has(.inserted) && handle.core.pointee.has(.deleted)
                guard !isGoneAgain, let lifecycle = handle.lifecycle,
                    known.insert(ObjectIdentifier(handle.object)).inserted
                else { continue }
                told.append(handle)
                lifecycle.willSave(handle.object)
            }
        } while told.count > toldCount
        if let error = context.errors.refusals.next() { throw error }
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
                let object = context.identifier(of: handle.reference, entity)
                let invalid = error as? InvalidValue
                let place = [entity.name, invalid?.propertyName].compactMap { $0 }.joined(separator: ".")
                findings.add(
                    ValidationFinding(
                        object, invalid?.propertyName, .custom,
                        "\(place) \(handle.reference.number): \(invalid?.description ?? "\(error)")"))
            }
        }
        let phase = context.saving.phase
        context.saving.phase = .validating
        defer { context.saving.phase = phase }
        for handle in context.pending.inserted where !handle.core.pointee.has(.deleted) { ask(handle, .insert) }
        for handle in context.pending.changed where !handle.core.pointee.has(.deleted) { ask(handle, .update) }
        for handle in context.pending.deleted { ask(handle, .delete) }
    }
}
