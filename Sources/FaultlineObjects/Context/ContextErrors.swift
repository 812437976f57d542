/// Errors that a context has met in calls that cannot throw.
struct ContextErrors {
    /// Changes that could not be made, and calls that failed: the next save throws the first of them.
    var refusals = Refusals()
    /// The last one that a getter or setter reported.
    var ofAccess: (any Error)?
    /// Is called with damage that a getter meets.
    var handler: (@Sendable (any Error) -> Void)?
}
