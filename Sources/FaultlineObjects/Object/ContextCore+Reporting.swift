internal import FaultlineLog

extension ContextCore {
    /// Reports an error of a getter or setter, which cannot throw.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - isOfStore: Whether the store could not return a value; false for a reference to a missing object.
    func report(_ error: any Error, isOfStore: Bool = true) {
        if isOfStore, let stage { stage.note(StorageError.translating(error)) }
        errors.ofAccess = error
        if errors.handler != nil, !errors.keep(error) { tell(error) }
    }

    private func tell(_ error: any Error) { errors.handler?(StorageError.translating(error)) }

    /// Calls `body`, which saves, and then passes the errors that it met to the error handler: the handler may save, and
    /// that waits for the writer lock.
    func tellingAfterwards<R>(_ body: () throws -> R) rethrows -> R {
        guard errors.hold() else { return try body() }
        defer { tellHeldErrors() }
        return try body()
    }

    /// Passes the errors that `errors` has kept since `hold` to the handler.
    func tellHeldErrors() { errors.release().forEach(tell) }

    /// Reports an object that could not be read, and marks it; an expired context does not mark it.
    func noteUnreadable(_ core: inout ModelCore, _ error: any Error) {
        if (error as? LogError)?.code != .expired { core.insert(.damaged) }
        report(error)
    }

    /// Records and reports an error that makes the next save fail; while a property is being changed, all saves until
    /// that change is settled.
    func refuseSave(_ error: any Error) {
        errors.refusals.add(error)
        report(error)
    }

    /// Records an error that makes the next save fail, which reports it: for operations on the state of the context,
    /// which the error handler may use.
    func refuseSaveLater(_ error: any Error) {
        errors.refusals.add(error)
        errors.ofAccess = error
        if errors.handler != nil { errors.keepForLater(error) }
    }

    /// Passes the errors to the error handler that were kept for the next save.
    func tellLateErrors() { if errors.hasLate { errors.takeLate().forEach(tell) } }

    /// Records and reports an error that makes the next save fail, and no other.
    package func refuseNextSave(_ error: any Error) {
        errors.refusals.addCall(error)
        report(error)
    }

    /// Records and reports a change that could not be made: saves fail until the property is set again, or the change is
    /// dropped.
    func refuseSave(_ error: any Error, _ object: ObjectHandle, _ slot: Int) {
        errors.refusals.add(error, at: .init(object: object, slot: slot))
        report(error)
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
}
