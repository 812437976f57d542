internal import FaultlineLog
internal import FaultlineStore

// The newest position in the history, and the saves after one.

extension ModelContext {
    /// The token of the state that the context reads: its last fetch or save, or a newer one if it has no objects.
    ///
    ///     let photos = try context.fetch(FetchDescriptor<Photo>())
    ///     let token = try context.historyToken()
    ///     for try await batch in container.changes(of: Photo.self, after: token) { … }
    ///
    /// Nothing is missed between the fetch and the stream, and nothing comes twice.
    ///
    /// - Returns: The token; nil if the history no longer has the newest save of this state.
    /// - Throws: `StorageError` if the store cannot be read.
    /// - Complexity: Reads one record.
    public func historyToken() throws -> DefaultHistoryToken? {
        let core = try coreOfOneStore("historyToken()")
        return try core.throwing {
            try core.beginReading()
            defer { core.endReading() }
            return try HistoryPosition.newest(in: core.snapshot).map {
                DefaultHistoryToken(
                    store: HistoryReader(core).historyModels.storeIdentifier, number: $0.number,
                    microseconds: $0.microseconds)
            }
        }
    }
}

extension ContextCore {
    /// Calls `body` with the saves after a token, in the newest state of the store.
    ///
    /// - Parameters:
    ///   - token: The token; nil for the beginning of the history.
    ///   - body: Gets each save.
    /// - Returns: The token of the last save; nil if there is none.
    /// - Throws: `SwiftDataError.historyTokenExpired`; `StorageError`; the errors of `body`.
    package func forEachSave(
        after token: DefaultHistoryToken?, _ body: (DefaultHistoryTransaction) throws -> Void
    ) throws -> DefaultHistoryToken? {
        try throwing {
            let models = HistoryReader(self).historyModels
            let position = token?.position(in: models.storeIdentifier)
            let snapshot = store.log.snapshot()
            try position?.check(in: snapshot)
            var last: DefaultHistoryToken?
            try snapshot.forEachTransaction(after: position?.number ?? 0) { stored in
                try models.check(stored)
                let transaction = DefaultHistoryTransaction(stored: stored, models: models)
                last = transaction.token
                try body(transaction)
                return true
            }
            return last
        }
    }

    /// The identifier of the store in tokens.
    package var storeIdentifier: String { HistoryReader(self).historyModels.storeIdentifier }

    /// Calls a closure when an object gets its first unsaved change, on the context's thread, until it returns false.
    package func watchUnsaved(_ watcher: @escaping () -> Bool) { owner.watchers.append(watcher) }
}
