internal import FaultlineDisk
internal import FaultlineLog
internal import FaultlineStore

extension FetchRunner {
    /// Finds objects by number, and makes them a batch at a time.
    func batches<T: PersistentModel>(
        _ source: QuerySource<T>, batchSize: Int
    ) throws -> FetchResultsCollection<T> {
        let (query, numbers, state) = try batchedNumbers(source)
        return FetchResultsCollection(count: numbers.count, batchSize: batchSize) { range in
            self.batch(Array(numbers[range]), query, foundAt: state)
        }
    }

    func identifierBatches<T: PersistentModel>(
        _ source: QuerySource<T>, batchSize: Int
    ) throws -> FetchResultsCollection<PersistentIdentifier> {
        let (query, numbers, _) = try batchedNumbers(source)
        let (storeID, name) = (context.store.log.storeID, query.entity.name)
        return FetchResultsCollection(count: numbers.count, batchSize: batchSize) { range in
            numbers[range].map { PersistentIdentifier(storeID: storeID, entityName: name, number: $0) }
        }
    }

    /// The numbers of the objects that a fetch in batches finds in the newest state, and that state.
    private func batchedNumbers<T: PersistentModel>(
        _ source: QuerySource<T>
    ) throws -> (query: Query<T>, numbers: [RecordID], state: WalkedState) {
        try context.beginReading()
        defer { context.endReading() }
        try context.moveToNewest()
        let query = try source.prepare(context)
        guard !query.descriptor.includePendingChanges || !context.hasChanges else {
            throw SwiftDataError.includePendingChangesWithBatchSize.explained(
                "A fetch in batches cannot show unsaved changes. Save first, or leave them out of the descriptor.")
        }
        return (query, try storedNumbers(query, source), WalkedState(context))
    }

    /// Makes the objects of a batch with their rows, and loads prefetched rows.
    private func batch<T: PersistentModel>(
        _ numbers: [RecordID], _ query: Query<T>, foundAt state: WalkedState
    ) -> [T] {
        let objects = numbers.map { ObjectRegistry(context).object($0, query.home, as: T.self) }
        do {
            try context.beginReading()
            defer { context.endReading() }
            try RowCache(context).keepRows(of: numbers, query.home)
            if !query.prefetching.isEmpty {
                try RowPrefetcher(context).prefetch(query.prefetching, ofStored: numbers, query.home)
            }
            guard state != WalkedState(context) else { return objects }
            for (object, number) in zip(objects, numbers)
            where try context.snapshot.location(of: number, in: query.entity.table).isAbsent {
                object._$coreAddress().pointee.becomeDeletedElsewhere()
            }
        } catch {
            context.report(error)
        }
        return objects
    }
}
