import FaultlineDisk
import Synchronization

/// The error with which the server of the pages has ended.
final class BrowseOutcome: Sendable {
    private let stored = Guarded<(any Error)?>(nil)

    var error: (any Error)? { stored.withLock { $0 } }

    func set(_ error: any Error) { stored.withLock { $0 = error } }
}
