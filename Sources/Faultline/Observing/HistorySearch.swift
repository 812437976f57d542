internal import FaultlineLog
internal import FaultlineObjects
internal import FaultlineStore

/// Looks for saves that an observer counts, whenever there are new ones.
struct HistorySearch: Sendable {
    /// The entities whose objects a save must change; empty for any.
    let entities: Set<String>
    /// The authors that a save must have; empty for any.
    let authors: Set<String>
    /// The state after which saves count; nil for the beginning of the history.
    let token: DefaultHistoryToken?

    private func counts(_ save: DefaultHistoryTransaction) -> Bool {
        if !authors.isEmpty {
            guard let author = save.author, authors.contains(author) else { return false }
        }
        return entities.isEmpty
            || save.changes.contains { entities.contains($0.changedPersistentIdentifier.entityName) }
    }

    /// Reports the number of saves found, until the task is cancelled; after an error it reports one, and ends.
    func run(_ container: ModelContainer, _ report: @Sendable (Int) async -> Void) async {
        let log = container.rowStore.log
        let signal = SaveSignal()
        let listener = log.listen { signal.set() }
        var token = token
        while !Task.isCancelled {
            do {
                let last = token
                let (count, newest) = try await container.perform { context in
                    try container.refresh()
                    var count = 0
                    let newest = try context.core.forEachSave(after: last) { if counts($0) { count += 1 } }
                    return (count, newest)
                }
                token = newest ?? token
                if count > 0 { await report(count) }
            } catch is CancellationError {
                return
            } catch {
                await report(1)
                return
            }
            if log.isFollowing {
                try? await Task.sleep(for: ChangeReader.followingInterval)
            } else {
                await signal.wait()
            }
        }
        withExtendedLifetime(listener) {}
    }
}
