#if Service
/// An error in the use of a `StoreService`.
///
///     do { try await store.run() } catch let error as StoreServiceError where error.code == .alreadyRun { … }
public struct StoreServiceError: Error, Sendable, CustomStringConvertible {
    /// The kind of error, for programs.
    ///
    /// Messages may change, codes do not.
    public enum Code: String, Sendable, CaseIterable {
        /// `run()` was called a second time.
        case alreadyRun
    }

    /// The kind of error.
    public let code: Code
    /// The problem and a remedy, in full sentences.
    public let message: String

    /// The message.
    public var description: String { message }

    static func alreadyRun(_ name: String) -> StoreServiceError {
        StoreServiceError(
            code: .alreadyRun,
            message:
                "The service of the store \"\(name)\" runs or ran already. Name it in one group only, and make another service to open the store again."
        )
    }
}
#endif
