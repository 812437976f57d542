public import FaultlineObjects
internal import FaultlineStore
internal import Foundation
public import Observation

/// Counts the saves of a store that change objects of some classes, or come from some authors, and notifies observers.
///
///     let observer = try HistoryObserver(observedModels: [Trip.self], modelContainer: container)
///     withObservationTracking { _ = observer.eventCounter } onChange: { fetchHistoryAgain() }
///
/// It reads the history of saves on the container's threads: of all contexts, and, with `allowsSave: false`, of another
/// process. It belongs to the actor that makes it, which is notified. If the history cannot be read, the counter goes up
/// by one, so that the reader meets the error, and stays from then on.
public final class HistoryObserver: Observable {
    private let registrar = ObservationRegistrar()
    private var count = 0
    private var task: Task<Void, Never>?

    /// How many saves were met so far.
    public var eventCounter: Int {
        registrar.access(self, keyPath: \.eventCounter)
        return count
    }

    /// Observes saves.
    ///
    /// - Parameters:
    ///   - historyTokens: The state after which saves count, by identifier of the store; nil for the newest state.
    ///   - observedModels: Only saves that change objects of these classes count; all if there is none.
    ///   - authors: Only saves of these authors count; all if there is none.
    ///   - modelContainer: The container.
    ///   - isolation: The observer's actor.
    /// - Throws: `SwiftDataError.invalidTransactionFetchRequest` without an actor, and for a token of another kind;
    ///   `StorageError` if the store cannot be read.
    /// - Complexity: O(1), and a read of the saves after the token, in the background.
    public init(
        historyTokens: [String: any HistoryToken]? = nil, observedModels: [any PersistentModel.Type] = [],
        authors: Set<String> = [], modelContainer: ModelContainer, isolation: isolated (any Actor)? = #isolation
    ) throws {
        guard let isolation else {
            throw SwiftDataError.invalidTransactionFetchRequest.explained(
                "A HistoryObserver notifies its actor. Make it in the code of an actor.")
        }
        let context = ModelContext(modelContainer)
        var token = try context.historyToken()
        if let given = historyTokens?[context.core.storeIdentifier] {
            guard let given = given as? DefaultHistoryToken else {
                throw SwiftDataError.invalidTransactionFetchRequest.explained(
                    "The tokens of this store are of type DefaultHistoryToken, and not \(type(of: given)).")
            }
            token = given
        }
        let search = HistorySearch(
            entities: Set(observedModels.map { Schema.entityName(for: $0) }), authors: authors, token: token)
        let target = Target(self, isolation)
        task = Task.detached { await search.run(modelContainer) { await target.add($0) } }
    }

    deinit { task?.cancel() }

    private func add(_ saves: Int) {
        registrar.withMutation(of: self, keyPath: \.eventCounter) { count += saves }
    }

    // Safe because the observer is used on its actor alone; a weak reference can be read on any thread.
    private final class Target: @unchecked Sendable {
        private weak var observer: HistoryObserver?
        /// Weak, because the actor may own the observer.
        private weak var actor: (any Actor)?

        init(_ observer: HistoryObserver, _ actor: any Actor) {
            self.observer = observer
            self.actor = actor
        }

        func add(_ saves: Int) async { if let actor { await add(saves, on: actor) } }

        private func add(_ saves: Int, on actor: isolated any Actor) { observer?.add(saves) }
    }
}
