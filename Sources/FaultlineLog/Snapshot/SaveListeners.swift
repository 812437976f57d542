import FaultlineDisk
import Synchronization

/// Code that is called when a log shows a newer state, or is closed; until it is released.
package final class SaveListener: Sendable {
    private let listeners: SaveListeners
    private let number: UInt64

    fileprivate init(_ listeners: SaveListeners, _ number: UInt64) {
        self.listeners = listeners
        self.number = number
    }

    deinit { listeners.remove(number) }
}

/// The listeners of a log.
///
/// A commit asks one atomic whether there are any. A listener that is added before it reads the newest state misses
/// none: the state and this atomic are written in one order, and read in the other.
final class SaveListeners: Sendable {
    private struct State {
        var listeners: [UInt64: @Sendable () -> Void] = [:]
        var nextNumber: UInt64 = 0
    }

    private let state = Guarded(State())
    private let haveAny = Atomic(false)

    func add(_ notify: @escaping @Sendable () -> Void) -> SaveListener {
        let number = state.withLock { state in
            state.nextNumber += 1
            state.listeners[state.nextNumber] = notify
            haveAny.store(true, ordering: .sequentiallyConsistent)
            return state.nextNumber
        }
        return SaveListener(self, number)
    }

    fileprivate func remove(_ number: UInt64) {
        state.withLock { state in
            state.listeners[number] = nil
            if state.listeners.isEmpty { haveAny.store(false, ordering: .sequentiallyConsistent) }
        }
    }

    /// Calls all listeners, without a lock.
    @inline(__always)
    func notify() {
        if haveAny.load(ordering: .sequentiallyConsistent) { notifyAll() }
    }

    @inline(never)
    private func notifyAll() {
        let all = state.withLock { Array($0.listeners.values) }
        for notify in all { notify() }
    }
}

extension Log {
    /// Calls a closure whenever snapshots show a newer state, and when the log is closed, until the listener is
    /// released.
    ///
    /// It is called on the thread of a commit, which waits for it: it may only wake others. A log that is open for
    /// reading shows a newer state when it is told to follow.
    package func listen(_ notify: @escaping @Sendable () -> Void) -> SaveListener { publisher.listeners.add(notify) }

    /// Calls all listeners.
    package func notifyListeners() { publisher.listeners.notify() }

    /// Whether another process writes the store, so that `follow` finds newer states.
    package var isFollowing: Bool { follower != nil }
}
