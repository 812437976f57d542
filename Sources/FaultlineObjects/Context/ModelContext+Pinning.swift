internal import FaultlineLog

extension ModelContext {
    /// Stays at the state of the store that the context reads now, whatever others save: for a report of several
    /// fetches, or an export that takes long.
    ///
    /// Nothing is copied. What the state needs and the newest one does not stays on the disk meanwhile, which
    /// `ModelContainer.pins` tells; a pin that outlives its limits expires: fetches throw `StorageError` with the code
    /// `expired`, objects whose rows are not loaded answer with stand-ins. A pinned context cannot be saved. Pinning
    /// anew sets the limits anew and keeps the state.
    ///
    /// - Parameters:
    ///   - label: What it is for, as `pins` shows it.
    ///   - duration: After which it expires where it costs space: an hour. One below zero counts as zero.
    ///   - byteLimit: Bytes of segments that it may keep from being removed: 1 GiB.
    /// - Throws: `StorageError` with the code `expired`, if the context is pinned and that has expired.
    public func pin(
        _ label: String = "pinned context", for duration: Duration = .seconds(3_600), byteLimit: Int = 1 << 30
    ) throws {
        // 300 years are as good as for ever.
        let (seconds, attoseconds) = min(max(duration, .zero), .seconds(9_000_000_000)).components
        let limits = PinLimits(
            nanoseconds: UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000),
            byteCount: UInt64(max(byteLimit, 0)))
        try StorageError.translating { try core.pin(limits, label) }
    }

    /// Goes on with the store: the next fetch sees the newest state, and the context can be saved again.
    public func unpin() { core.unpin() }

    /// Whether the context stays at one state of the store.
    public var isPinned: Bool { core.pinLabel != nil }
}
