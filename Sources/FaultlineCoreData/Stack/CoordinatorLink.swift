internal import Faultline
internal import FaultlineDisk
internal import FaultlineObjects
internal import Synchronization

/// The coordinator of a context, which may be set after the context was made, and be replaced.
final class CoordinatorLink: ContextSource, ContainerHolder {
    private struct State {
        var coordinator: NSPersistentStoreCoordinator?
        /// Grows with each coordinator that is set.
        var count = 0
    }

    private let state = Guarded(State())

    var coordinator: NSPersistentStoreCoordinator? {
        get { state.withLock { $0.coordinator } }
        set {
            state.withLock { state in
                guard state.coordinator !== newValue else { return }
                state.coordinator = newValue
                state.count += 1
            }
        }
    }

    var container: ModelContainer? { coordinator?.container }

    var changeCount: Int { state.withLock { Self.count($0, $0.coordinator?.container.storeChangeCount ?? 0) } }

    func storesNow() -> (changeCount: Int, stores: [ContextParts.Store]) {
        let now = state.withLock { $0 }
        let (count, stores) = now.coordinator?.container.storesForContexts() ?? (changeCount: 0, stores: [])
        return (Self.count(now, count), stores)
    }

    /// One count of both, which differs where one of them does.
    private static func count(_ state: State, _ storeChangeCount: Int) -> Int { state.count << 32 | storeChangeCount }
}
