extension ContextCore {
    /// Calls `body`, and throws the public form of its errors; records them in a migration stage.
    ///
    /// - Parameters:
    ///   - runsOthersCode: Whether `body` may throw errors of user code: a stage records only the context's own errors.
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
