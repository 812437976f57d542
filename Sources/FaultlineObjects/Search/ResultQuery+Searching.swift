internal import FaultlineLog
internal import FaultlineStore

extension ResultQuery {
    /// The result of a search; its order, its window and its facets have no effect.
    ///
    /// Called between `beginReading` and `endReading` of a context without changes.
    init<T: PersistentModel>(_ descriptor: SearchDescriptor<T>, _ context: ContextCore) throws {
        let runner = SearchRunner(context, descriptor)
        let (query, search) = try runner.prepare()
        self.init(query, isEverything: false, context) { numbers in
            let words =
                if let numbers {
                    try runner.numbers(among: numbers, query, search)
                } else {
                    try runner.find(query, search, ranks: false).stored
                }
            var found = NumberSet()
            guard query.isWanted != nil else {
                words.forEach { found.insert($0) }
                return found
            }
            try RowSearch(context).visitRows(of: query, words, behind: 0) { number, _ in
                found.insert(number)
                return true
            }
            return found
        }
    }
}

extension SearchRunner {
    /// Those of some stored objects whose texts satisfy the query, read from their rows.
    fileprivate func numbers(among numbers: [RecordID], _ query: Query<T>, _ search: Search) throws -> [RecordID] {
        var document = TextDocument(search.plan, search.index.analyzer)
        let texts = texts(search.index)
        var buffer = RecordBuffer()
        return try numbers.filter { number in
            guard let record = try context.snapshot.read(number, in: query.entity.table, into: &buffer) else {
                return false
            }
            context.tally.addRow()
            try texts.read(context.store.view(record, of: query.entity), into: &document)
            return document.isMatch
        }
    }
}
