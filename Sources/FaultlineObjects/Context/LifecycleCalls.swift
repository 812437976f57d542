internal import FaultlineStore

extension ObjectHandle {
    fileprivate var entityName: String { core.pointee.home._withUnsafeGuaranteedRef { $0.entityName } }

    var lifecycle: Lifecycle? { core.pointee.contextHome?._withUnsafeGuaranteedRef { $0.lifecycle } }
}

/// Calls the object's `awakeFromFetch` before an ephemeral property of it is first used; the accessors of such properties
/// call this.
public func _$awakeFromFetch<T: PersistentModel>(_ object: T) {
    LifecycleCalls.awakeFetched(ObjectHandle(object))
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

    /// Calls `awakeFromFetch` of an object that the store has, unless it or `awakeFromInsert` was called before.
    fileprivate static func awakeFetched(_ handle: ObjectHandle) {
        let core = handle.core
        if let canonical = core.pointee.extraIfPresent?.canonical { return awakeFetched(canonical) }
        guard core.pointee.has(.attached), !core.pointee.has(.awake), !core.pointee.has(.inserted),
            !core.pointee.has(.gone), let context = core.pointee.context
        else { return }
        core.pointee.insert(.awake)
        LifecycleCalls(context).callAwakeFromFetch(handle)
    }

    /// Calls `awakeFromFetch` of a new object that undo has made for a deleted one of the store.
    func awakeRevived(_ handle: ObjectHandle) {
        if handle.core.pointee.has(.inserted) { callAwakeFromFetch(handle) }
    }

    private func callAwakeFromFetch(_ handle: ObjectHandle) {
        guard callsLifecycles, let lifecycle = handle.lifecycle else { return }
        let phase = context.saving.phase
        context.saving.phase = .awaking
        defer { context.saving.phase = phase }
        lifecycle.awakeFromFetch(handle.object)
    }

    /// - Throws: If the code of a class or an observer calls a save; a save that calls this code throws the error, too.
    func checkIsNotSaving() throws {
        guard context.saving.phase != .none else { return }
        let error = SwiftDataError.modelValidationFailure.explained(
            "A save was called by \(context.saving.phase.name), which may not save. Leave the call out.")
        context.refuseSave(error)
        throw error
    }

    /// Whether user code may now undo changes, insert or delete: not during validation; a refusal makes the save throw.
    func mayRearrange(_ call: @autoclosure () -> String) -> Bool {
        guard context.saving.phase.mayOnlyRead else { return true }
        context.refuseSave(
            SwiftDataError.modelValidationFailure.explained(
                "\(call()) was called by \(context.saving.phase.name), which \(context.saving.phase.rule)"))
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
