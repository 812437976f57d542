internal import FaultlineLog

extension ModelContext {
    /// Keeps the context at the state of the store that it reads now, in spite of later saves: for a report of several
    /// fetches, or a long export.
    ///
    /// Nothing is copied. Old data that only this state needs stays on the disk for the time of the pin;
    /// `ModelContainer.pins` reports it. A pin that exceeds its limits expires: fetches throw `StorageError` with the
    /// code `expired`, and objects whose rows are not loaded answer with placeholders. A pinned context cannot be
    /// saved. Pinning again restarts the limits and keeps the state.
    ///
    /// - Parameters:
    ///   - label: The purpose, as `pins` shows it.
    ///   - duration: The time after which the pin expires if it costs space: an hour. A negative duration counts as
    ///     zero.
    ///   - byteLimit: Bytes of segments that it may keep from being removed: 1 GiB.
    /// - Throws: `StorageError` with the code `expired`, if the context is pinned and that has expired.
    /// - Complexity: O(1): takes no copy. Space is kept only for data that later saves replace.
    public func pin(
        _ label: String = "pinned context", for duration: Duration = .seconds(3_600), byteLimit: Int = 1 << 30
    ) throws {
        // Bounded to about 300 years.
        let (seconds, attoseconds) = min(max(duration, .zero), .seconds(9_000_000_000)).components
        let limits = PinLimits(
            nanoseconds: UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000),
            byteCount: UInt64(max(byteLimit, 0)))
        try StorageError.translating {
            do { for core in cores { try core.pin(limits, label) } } catch {
                unpin()
                throw error
            }
        }
    }

    /// Ends the pin: the next fetch sees the newest state, and the context can be saved again.
    ///
    /// - Complexity: O(1); after an expiry, all loaded rows are released.
    public func unpin() { cores.forEach { $0.unpin() } }

    /// Whether the context is pinned to one state of the store.
    public var isPinned: Bool { parts?.isPinned ?? (core.state.pinLabel != nil) }
}
