internal import FaultlineLog
internal import FaultlineStore

/// The source of a stream's batches; used by one reader.
package protocol StreamSource: AnyObject {
    /// The next objects, as values; fewer than requested at the end.
    func next(
        _ context: ContextCore, _ count: Int, _ contents: ValueCopy.Contents,
        _ cancellation: ValueStreamReader.Cancellation
    ) throws -> [ValueCopy]
}

/// The objects that a query finds in one state of the store.
final class QueryStream<T: PersistentModel>: StreamSource {
    private let query: Query<T>
    /// Numbers of all matches, if the order requires sorting all of them.
    private let sorted: [RecordID]?
    /// The candidates of an index or the predicate, in the order of creation; nil if all rows are checked.
    private let named: [RecordID]?
    private var place: PageStart = .beginning
    private var toSkip: Int
    private var left: Int

    /// Called between `beginReading` and `endReading` of a context without changes.
    init(_ source: QuerySource<T>, _ context: ContextCore) throws {
        query = try source.prepare(context)
        _ = try query.start(after: nil, context)
        let descriptor = query.descriptor
        toSkip = max(descriptor.fetchOffset ?? 0, 0)
        left = descriptor.fetchLimit.flatMap { $0 > 0 ? $0 : nil } ?? .max
        let isSorted = query.order?.isEmpty != true
        sorted = isSorted ? try FetchRunner(context).storedNumbers(query, source) : nil
        named = isSorted ? nil : try RowSearch(context).namedNumbers(query)
    }

    func next(
        _ context: ContextCore, _ count: Int, _ contents: ValueCopy.Contents,
        _ cancellation: ValueStreamReader.Cancellation
    ) throws -> [ValueCopy] {
        try context.beginReading()
        defer { context.endReading() }
        var copies: [ValueCopy] = []
        copies.reserveCapacity(min(count, 4_096))
        if let sorted {
            // The window was cut by the sort.
            let first = Int(place.number)
            let end = min(first + count, sorted.count)
            var buffer = RecordBuffer()
            for number in sorted[first..<end] {
                try cancellation.check()
                guard let record = try context.snapshot.read(number, in: query.entity.table, into: &buffer) else {
                    continue
                }
                context.tally.addRow()
                let view = try context.store.view(record, of: query.entity)
                copies.append(try ValueCopier(context).valueCopy(number, view, query.entity, contents))
            }
            place = PageStart(number: RecordID(end), keys: [])
            return copies
        }
        try RowSearch(context).visitRows(of: query, named, behind: place.number) { number, view in
            try cancellation.check()
            place = PageStart(number: number, keys: [])
            if toSkip > 0 {
                toSkip -= 1
                return true
            }
            guard left > 0 else { return false }
            left -= 1
            copies.append(try ValueCopier(context).valueCopy(number, view, query.entity, contents))
            return copies.count < count && left > 0
        }
        return copies
    }
}

extension RowSearch {
    /// Calls `body` with the rows that satisfy a query after a number, in the order of creation, until it returns
    /// false.
    ///
    /// If `named` is given, only its rows are checked.
    func visitRows<T: PersistentModel>(
        of query: Query<T>, _ named: [RecordID]?, behind number: RecordID,
        _ body: (RecordID, RowView) throws -> Bool
    ) throws {
        let (snapshot, table) = (context.snapshot, query.entity.table)
        try visitMatches(
            query, keepingObjects: false,
            from: { take in
                if let named {
                    var window = RecordWindow(snapshot)
                    for next in named[named.firstPlace(behind: number)...] {
                        // An object that is made of a row may load other rows.
                        let row = try rows.foundRow(next, query.home, query.entity, asksObjects: true, by: &window)
                        if let row, try !take(row) { return }
                    }
                    return
                }
                try snapshot.scan(
                    table, from: number + 1, through: ModelCore.numberMask, readAhead: RowArena.blockByteCount
                ) { records in
                    for record in records {
                        context.tally.addRow()
                        let view = try context.store.view(record, of: query.entity)
                        guard try take(FoundRow(record, view, isSingle: false)) else { return false }
                    }
                    return true
                }
            },
            row: { row, _ in try body(row.number, row.view) }, draft: { _, _ in })
    }
}

extension [RecordID] {
    /// The index of the first number above another, in ascending numbers; the end if there is none.
    func firstPlace(behind number: RecordID) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if self[middle] > number { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
