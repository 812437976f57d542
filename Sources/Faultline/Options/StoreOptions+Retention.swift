internal import FaultlineLog

extension StoreOptions.Retention {
    /// The window; nil for that of the store.
    var window: RetentionWindow? {
        switch self {
        case .unchanged: nil
        case .none: RetentionWindow.none
        case .kept(let duration, let byteCountMax):
            RetentionWindow(nanoseconds: Self.nanoseconds(duration), byteCount: UInt64(clamping: byteCountMax))
        }
    }

    private static func nanoseconds(_ duration: Duration) -> Int64 {
        let most = Duration.nanoseconds(Int64.max)
        if duration >= most { return .max }
        let (seconds, attoseconds) = max(duration, .zero).components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
