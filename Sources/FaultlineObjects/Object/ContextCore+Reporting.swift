internal import FaultlineLog

extension ContextCore {
    /// Takes note of an error that a getter or setter cannot throw.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - isOfStore: Whether the store could not give a value; false for a reference to an object that is not there.
    func report(_ error: any Error, isOfStore: Bool = true) {
        if isOfStore, let stage { stage.note(StorageError.translating(error)) }
        getterError = error
        if let errorHandler { errorHandler(StorageError.translating(error)) }
    }

    /// Tells of an object that could not be read, and marks it; nothing is wrong with it where its context came too late.
    func noteUnreadable(_ core: inout ModelCore, _ error: any Error) {
        if (error as? LogError)?.code != .expired { core.insert(.damaged) }
        report(error)
    }

    /// Takes note of an error that makes the next save fail.
    func refuseSave(_ error: any Error) {
        if pendingError == nil { pendingError = error }
        report(error)
    }

    /// Calls `body`, and throws the public form of its errors; a migration stage is told of them.
    ///
    /// - Parameters:
    ///   - runsOthersCode: Whether `body` may throw errors of the user's code: a stage is told of the context's own only.
    ///   - body: The call.
    /// - Returns: The result of `body`.
    /// - Throws: The errors of `body`, those of the engine as `StorageError`.
    @inline(__always)
    func throwing<R>(runsOthersCode: Bool = false, _ body: () throws -> R) throws -> R {
        do {
            if let stage { try stage.onUse?() }
            settleMembers()
            return try body()
        } catch {
            let error = StorageError.translating(error)
            if !runsOthersCode || error is StorageError || error is SwiftDataError { stage?.note(error) }
            throw error
        }
    }
}
