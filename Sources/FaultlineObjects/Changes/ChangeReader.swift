package import FaultlineLog
internal import FaultlineStore

/// Reads the batches of a stream of changes, on the threads of a pool.
///
/// Between two states it holds no context and no snapshot. While a state is delivered in several batches, its context
/// stays at that state, within the limits of a stream's pin.
package actor ChangeReader {
    private let executor: PoolSerialExecutor
    private let source: Source
    private let batchSize: Int
    private let contents: ValueCopy.Contents?
    private var tracker: ResultTracker
    /// The state that is being delivered.
    private var delivery: Delivery?
    private var isOver = false
    /// The newest state that was read.
    private var sequence: UInt64?
    private nonisolated let signal = SaveSignal()
    private let listener: SaveListener

    /// The time between two looks at a store that another process writes.
    package static let followingInterval = Duration.milliseconds(200)

    /// Where a reader gets its contexts and its result from.
    package struct Source: Sendable {
        let log: Log
        /// - Throws: An error if the container is closed, or the history is off.
        let check: @Sendable () throws -> Void
        let contexts: ContextPool
        let make: @Sendable () -> ContextCore
        let prepare: @Sendable (ContextCore) throws -> ResultQuery

        package init(
            _ log: Log, _ contexts: ContextPool, check: @escaping @Sendable () throws -> Void,
            make: @escaping @Sendable () -> ContextCore,
            prepare: @escaping @Sendable (ContextCore) throws -> ResultQuery
        ) {
            self.log = log
            self.contexts = contexts
            self.check = check
            self.make = make
            self.prepare = prepare
        }
    }

    private struct Delivery {
        let context: ContextCore
        let entity: EntityStorage
        var changes: ResultTracker.Changes
        let token: DefaultHistoryToken?
    }

    package init(
        _ source: Source, after token: DefaultHistoryToken?, batchSize: Int, _ contents: ValueCopy.Contents?,
        on pool: ExecutorPool
    ) {
        executor = PoolSerialExecutor(pool)
        self.source = source
        self.batchSize = max(batchSize, 1)
        self.contents = contents
        tracker = ResultTracker(token.map { .after($0) } ?? .everything)
        listener = source.log.listen { [signal] in signal.set() }
    }

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// The next batch, when there is one; nil after an error.
    package nonisolated func next() async throws -> ChangeBatch? {
        while true {
            if Task.isCancelled {
                await end()
                throw CancellationError()
            }
            switch try await look() {
            case .batch(let batch): return batch
            case .over: return nil
            case .nothing(let isFollowing):
                if isFollowing {
                    try? await Task.sleep(for: Self.followingInterval)
                } else {
                    await signal.wait()
                }
            }
        }
    }

    private enum Look {
        case batch(ChangeBatch)
        /// The result is as it was.
        case nothing(isFollowing: Bool)
        case over
    }

    private func look() throws -> Look {
        guard !isOver else { return .over }
        do {
            try source.check()
            if delivery == nil { try advance() }
            guard delivery != nil else { return .nothing(isFollowing: source.log.isFollowing) }
            let batch = try nextPart()
            // Called here, where nothing else refers to the context any more.
            if batch.isComplete { endDelivery() }
            return .batch(batch)
        } catch {
            end()
            throw StorageError.translating(error)
        }
    }

    /// Reads the changes up to the newest state.
    private func advance() throws {
        if !source.log.isFollowing, source.log.snapshot().sequence == sequence { return }
        var context = source.contexts.lend(source.make)
        var isKept = false
        defer { if !isKept { source.contexts.takeBack(&context) } }
        let delivery = try context.throwing { () -> Delivery? in
            try context.beginReading()
            defer { context.endReading() }
            try context.moveToNewest()
            sequence = context.snapshot.sequence
            let query = try source.prepare(context)
            let store = HistoryReader(context).historyModels.storeIdentifier
            guard let changes = try tracker.advance(query, in: context.snapshot, of: store) else { return nil }
            let token = tracker.position.map {
                DefaultHistoryToken(store: store, number: $0.number, microseconds: $0.microseconds)
            }
            try context.pin(ValueStreamReader.defaultLimits, "changes")
            return Delivery(context: context, entity: query.entity, changes: changes, token: token)
        }
        guard let delivery else { return }
        isKept = true
        self.delivery = delivery
    }

    /// Takes up to a batch of objects from the changes of a state.
    private func nextPart() throws -> ChangeBatch {
        guard var delivery = self.delivery.take() else { throw CancellationError() }
        let (context, entity) = (delivery.context, delivery.entity)
        var room = batchSize
        func take(_ numbers: inout NumberSet) -> [RecordID] {
            var taken: [RecordID] = []
            while room > 0, let number = numbers.popFirst() {
                taken.append(number)
                room -= 1
            }
            return taken
        }
        let deleted = take(&delivery.changes.deleted)
        let inserted = take(&delivery.changes.inserted)
        let updated = take(&delivery.changes.updated)
        self.delivery = delivery
        let copies = try contents.map { try copy(inserted + updated, delivery, $0) } ?? []
        let isComplete = delivery.changes.isEmpty
        func identifiers(_ numbers: [RecordID]) -> [PersistentIdentifier] {
            numbers.map {
                PersistentIdentifier(storeID: context.store.log.storeID, entityName: entity.name, number: $0)
            }
        }
        return ChangeBatch(
            inserted: identifiers(inserted), updated: identifiers(updated), deleted: identifiers(deleted),
            values: copies, token: isComplete ? delivery.token : nil, isComplete: isComplete)
    }

    private func copy(
        _ numbers: [RecordID], _ delivery: Delivery, _ contents: ValueCopy.Contents
    ) throws -> [ValueCopy] {
        let (context, entity) = (delivery.context, delivery.entity)
        return try context.throwing {
            try context.beginReading()
            defer { context.endReading() }
            var buffer = RecordBuffer()
            return try numbers.compactMap { number in
                guard let record = try context.snapshot.read(number, in: entity.table, into: &buffer) else {
                    return nil
                }
                context.tally.addRow()
                let view = try context.store.view(record, of: entity)
                return try ValueCopier(context).valueCopy(number, view, entity, contents)
            }
        }
    }

    private func endDelivery() {
        guard var context = delivery.take()?.context else { return }
        context.unpin()
        source.contexts.takeBack(&context)
    }

    private func end() {
        isOver = true
        endDelivery()
    }

    /// Whether a state is being delivered: for tests.
    package var isDelivering: Bool { delivery != nil }
}
