/// Ends a long read or write when the task that runs it is cancelled.
///
/// Short ones go on, so that code which cleans up after a cancellation may fetch and save.
package struct CancellationPoint {
    /// The rows between two questions whether the task is cancelled.
    package static let rowCount = 4_096

    private var count = 0

    package init() {}

    /// Counts rows.
    ///
    /// - Parameter rows: How many rows have been read or written since the last call.
    /// - Throws: `CancellationError` if the task is cancelled.
    @inline(__always)
    package mutating func pass(_ rows: Int = 1) throws {
        count += rows
        if count >= Self.rowCount { try check() }
    }

    @inline(never)
    private mutating func check() throws {
        count = 0
        try Task.checkCancellation()
    }
}
