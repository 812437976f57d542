internal import FaultlineDisk
internal import FaultlineLog
internal import Synchronization

/// The online migrations of this process.
package enum OnlineMirrors {
    /// Does not keep a log alive.
    private struct Running {
        weak var mirror: IndexMirror?
    }

    private static let running = Guarded<[Running]>([])

    /// Lets saves of the schema in force go on, although the store has a migration's record, as long as they are
    /// mirrored.
    package static func add(_ mirror: IndexMirror) {
        running.withLock { running in
            running.removeAll { $0.mirror == nil || $0.mirror?.log === mirror.log }
            running.append(Running(mirror: mirror))
        }
    }

    /// Ends that: saves are refused while the store has a migration's record.
    package static func remove(_ mirror: IndexMirror) {
        running.withLock { running in running.removeAll { $0.mirror == nil || $0.mirror === mirror } }
    }

    static func mirror(of log: Log) -> IndexMirror? {
        running.withLock { running in running.first { $0.mirror?.log === log }?.mirror }
    }
}
