internal import FaultlineLog
internal import FaultlineStore
internal import Foundation

extension FetchRunner {
    /// Passes the objects that a query finds to a block, one after the other, in the context's state at that moment.
    func enumerate<T: PersistentModel>(
        _ source: QuerySource<T>, batchSize: Int, allowEscapingMutations: Bool, block: (T) throws -> Void
    ) throws {
        try context.beginReading()
        defer { context.endReading() }
        try context.moveToNewest()
        let query = try source.prepare(context)
        var batches = WalkBatches(
            size: max(1, min(batchSize, 1 << 20)), checks: !allowEscapingMutations && !context.hasChanges)
        if !context.hasChanges, query.isEverything || query.order?.isEmpty == true, query.lowered.isExact,
            query.lowered.candidates == nil, try search.indexedNumbers(query) == nil
        {
            var walk = FetchWalk(source, query, context, batches)
            return try walk.run(block)
        }
        let found = WalkedState(context)
        // Without unsaved changes, a fetch includes an object until its deletion is saved.
        let isStored = !query.descriptor.includePendingChanges
        if isMisledByChanges(query) {
            for number in try storedNumbers(source) {
                let object = ObjectRegistry(context).object(number, query.home, as: T.self)
                if try shows(object, foundAt: found, countingDeleted: true) { try block(object) }
            }
            return
        }
        var matches = try search.matches(query, keepingRows: false)
        if query.order == nil {
            var objects = matches.objects(query, context)
            TrackingWord.withoutTracking { objects.sort(using: query.descriptor.sortBy) }
            for object in objects.window(of: query.descriptor)
            where try shows(object, foundAt: found, countingDeleted: isStored) {
                try block(object)
            }
            return
        }
        matches.sortWindow(offset: query.descriptor.fetchOffset, limit: query.descriptor.fetchLimit)
        var start = 0
        while start < matches.count {
            let end = min(start + batches.size, matches.count)
            let objects = matches.slice(start..<end).objects(query, context)
            if !query.prefetching.isEmpty {
                try RowPrefetcher(context).prefetch(query.prefetching, of: objects, query.home)
            }
            for object in objects where try shows(object, foundAt: found, countingDeleted: isStored) {
                try block(object)
            }
            try batches.end(context)
            start = end
        }
    }

    /// Whether the context still has an object that a walk found: it was not deleted since.
    private func shows<T: PersistentModel>(
        _ object: T, foundAt state: WalkedState, countingDeleted: Bool
    ) throws -> Bool {
        let core = object._$coreAddress()
        if core.pointee.has(.gone) || !countingDeleted && core.pointee.has(.deleted) { return false }
        guard !core.pointee.has(.temporary) else { return core.pointee.has(.attached) }
        guard state != WalkedState(context), let entity = core.pointee.home.takeUnretainedValue().entity else {
            return true
        }
        return try !context.snapshot.location(of: core.pointee.number, in: entity.table).isAbsent
    }
}

/// The state of a context during a walk: it changes when the context saves or moves on.
struct WalkedState: Equatable {
    private let sequence: UInt64
    private let forgettingCount: Int

    init(_ context: ContextCore) {
        sequence = context.snapshot.sequence
        forgettingCount = context.state.forgettingCount
    }

    /// Whether loaded rows were released since, because another context has saved.
    func isForgotten(_ context: ContextCore) -> Bool { context.state.forgettingCount != forgettingCount }
}

/// Counts the objects that a walk has passed on, and checks for unsaved changes at the end of each batch.
struct WalkBatches {
    let size: Int
    /// Whether changes are refused.
    let checks: Bool
    private var count = 0

    init(size: Int, checks: Bool) {
        self.size = size
        self.checks = checks
    }

    mutating func add(_ context: ContextCore) throws {
        count += 1
        if count == size { try end(context) }
    }

    mutating func end(_ context: ContextCore) throws {
        count = 0
        guard checks, context.hasChanges else { return }
        throw SwiftDataError.includePendingChangesWithBatchSize.explained(
            "An object was changed and not saved while a fetch was being walked. Save within the block, or pass allowEscapingMutations: true."
        )
    }
}

/// A walk over rows in the order of creation: reads ahead, and passes each object with its row.
///
/// It reads one state of the store at a time. After the block has saved, the walk continues in the context's state
/// then; objects that were added since are not reached.
struct FetchWalk<T: PersistentModel> {
    private static var capacity: Int { 256 }

    private let source: QuerySource<T>
    private let context: ContextCore
    private let last: RecordID
    private var query: Query<T>
    private var batches: WalkBatches
    /// The first number that was not visited yet.
    private var next: RecordID = 1
    private var toSkip: Int
    private var left: Int

    /// Used between `beginReading` and `endReading`, like `run`.
    init(_ source: QuerySource<T>, _ query: Query<T>, _ context: ContextCore, _ batches: WalkBatches) {
        self.source = source
        self.query = query
        self.context = context
        self.batches = batches
        last = context.snapshot.nextID(of: query.entity.table) - 1
        toSkip = query.descriptor.fetchOffset ?? 0
        left = query.descriptor.fetchLimit.flatMap { $0 > 0 ? $0 : nil } ?? Int.max
    }

    mutating func run(_ block: (T) throws -> Void) throws {
        while try !walkState(block) {
            // Dangling references depend on the state that is read.
            query = try source.prepare(context)
        }
        try query.checkTargets()
        try batches.end(context)
    }

    /// Walks the rest in the context's current state.
    ///
    /// - Returns: Whether the walk is over; false if the context has moved on.
    private mutating func walkState(_ block: (T) throws -> Void) throws -> Bool {
        let (context, query) = (context, query)
        let (snapshot, state) = (context.snapshot, WalkedState(context))
        var programs = ProgramCache(query.lowered.filter, query.entity, context, snapshot)
        var isOver = true
        guard next <= last, left > 0 else { return true }
        try withUnsafeTemporaryAllocation(of: RecordID.self, capacity: Self.capacity) { numbers in
            try withUnsafeTemporaryAllocation(of: RowReference.self, capacity: Self.capacity) { rows in
                try withUnsafeTemporaryAllocation(of: T.self, capacity: Self.capacity) { objects in
                    var cancellation = CancellationPoint()
                    try snapshot.scan(
                        query.entity.table, from: next, through: last, readAhead: RowArena.blockByteCount
                    ) { records in
                        try cancellation.pass(records.count)
                        var (count, isCut) = (0, false)
                        let mayBeUnsaved = query.descriptor.includePendingChanges && context.hasChanges
                        for record in records {
                            context.tally.addRow()
                            next = record.id + 1
                            let view = try context.store.view(record, of: query.entity)
                            guard
                                try mayBeUnsaved
                                    ? isWanted(record, view, &programs) : programs.matches(view, record.layout),
                                takesPlace()
                            else { continue }
                            numbers[count] = record.id
                            rows[count] = RowCache(context).keep(view, at: record.location)
                            count += 1
                            isCut = left == 0
                            if isCut { break }
                        }
                        let numbers = UnsafeBufferPointer(rebasing: numbers[..<count])
                        guard count > 0, let first = objects.baseAddress, let rows = rows.baseAddress else {
                            return left > 0
                        }
                        try prefetch(numbers, rows)
                        ObjectRegistry(context).appendObjects(numbers, rows: rows, query.home, to: first)
                        try give(numbers, first, state, block)
                        // If the block has deleted objects of the window, later objects take their place.
                        isOver = state == WalkedState(context) && !(isCut && left > 0)
                        return isOver && left > 0
                    }
                }
            }
        }
        return isOver
    }

    /// Whether a row belongs to an object that satisfies the query, including unsaved changes.
    private func isWanted(_ record: RecordView, _ view: RowView, _ programs: inout ProgramCache) throws -> Bool {
        if let object = ObjectRegistry(context).registeredObject(record.id, query.home),
            let handle = query.home.handle(of: object), handle.core.pointee.hasChanges
        {
            guard !handle.core.pointee.has(.deleted) else { return false }
            guard let isWanted = query.isWanted, let object = object as? T else { return true }
            return try TrackingWord.withoutTracking { try isWanted(object) }
        }
        return try programs.matches(view, record.layout)
    }

    /// Counts an object towards the window; false if it is before the window.
    @inline(__always)
    private mutating func takesPlace() -> Bool {
        if toSkip > 0 {
            toSkip -= 1
            return false
        }
        left -= 1
        return true
    }

    private func prefetch(_ numbers: UnsafeBufferPointer<RecordID>, _ rows: UnsafePointer<RowReference>) throws {
        guard !query.prefetching.isEmpty else { return }
        query.home.prefetchedRows.removeAll(keepingCapacity: true)
        for (place, number) in numbers.enumerated() { query.home.prefetchedRows[number] = rows[place] }
        try RowPrefetcher(context).prefetch(query.prefetching, ofStored: Array(numbers), query.home)
    }

    /// Passes objects to the block, and releases each.
    ///
    /// Objects that the block has deleted are left out. Once changes of other contexts are visible, the rest is
    /// searched again.
    private mutating func give(
        _ numbers: UnsafeBufferPointer<RecordID>, _ first: UnsafeMutablePointer<T>, _ state: WalkedState,
        _ block: (T) throws -> Void
    ) throws {
        var given = 0
        defer { (first + given).deinitialize(count: numbers.count - given) }
        while given < numbers.count {
            if state.isForgotten(context) {
                next = numbers[given]
                left += numbers.count - given
                return
            }
            let object = (first + given).move()
            given += 1
            let core = object._$coreAddress()
            if core.pointee.has(.gone) || query.descriptor.includePendingChanges && core.pointee.has(.deleted) {
                left += 1
                continue
            }
            try block(object)
            try batches.add(context)
        }
    }
}
