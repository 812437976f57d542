/// Errors that a context has met in calls that cannot throw.
struct ContextErrors {
    /// Changes that could not be made, and calls that failed: the next save throws the first of them.
    var refusals = Refusals()
    /// The last one that a getter or setter reported.
    var ofAccess: (any Error)?
    /// Is called with damage that a getter meets.
    var handler: (@Sendable (any Error) -> Void)?
    /// Errors met during a save, kept until the handler may be called; nil outside of a save.
    private var held: [any Error]?
    /// Errors kept until the next save.
    private var late: [any Error] = []

    /// Begins to keep errors from the handler, which may save.
    ///
    /// - Returns: False where errors are kept already.
    mutating func hold() -> Bool {
        guard held == nil else { return false }
        held = []
        return true
    }

    /// Keeps an error for `release`.
    ///
    /// - Returns: False where errors are not kept.
    mutating func keep(_ error: any Error) -> Bool { held?.append(error) != nil }

    var hasLate: Bool { !late.isEmpty }

    /// Keeps an error until the end of the save that runs, or the beginning of the next one.
    mutating func keepForLater(_ error: any Error) { if !keep(error) { late.append(error) } }

    /// Returns the errors that were kept for the next save.
    mutating func takeLate() -> [any Error] {
        defer { late = [] }
        return late
    }

    /// Ends `hold`, and returns the errors that were kept.
    mutating func release() -> [any Error] {
        defer { held = nil }
        return held ?? []
    }
}
