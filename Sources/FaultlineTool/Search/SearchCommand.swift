import ArgumentParser
import FaultlineCommands
import FaultlineModel
import FaultlineStore
import FaultlineText

/// `faultline search`: the objects of an entity whose texts satisfy a query.
struct SearchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        "search",
        abstract: "Finds objects by the words of their texts, best first.",
        discussion: """
            The query has words (sea), beginnings of words (sea*), phrases ("red boat"), AND, OR, NOT, parentheses, NEAR(sea boat, 5) and title:sea. The \
            entity's first text index answers it, or the one that --index names by a property; without one, all its texts are read. Other processes may use \
            the store meanwhile.
            """,
        example: "faultline search /var/lib/photos.store Photo sea* --limit 10"
    )

    @OptionGroup var arguments: StoreArguments

    @Argument(help: "The entity.")
    var entity: String

    @Argument(help: "The query.")
    var query: String

    @Option(help: "At most so many objects.")
    var limit = 20

    @Option(help: "Uses the text index that has this property.")
    var index: String?

    func validate() throws {
        if limit < 0 { throw ValidationError("--limit is at least 0.") }
    }

    func run() throws {
        let store = try OpenedStore(arguments.store)
        guard let storage = store.rows.storage.entity(named: entity) else {
            let names = store.rows.storage.entities.map(\.name).sorted().joined(separator: ", ")
            throw CommandFailure(CommandFailure.wrongUsage, "The store has no entity \(entity); it has \(names).")
        }
        let texts = try searchedTexts(store, storage)
        let parsed: TextQuery
        do throws(TextQueryError) {
            parsed = try TextQueryParser.parse(query, analyzer: texts.analyzer, fields: texts.names)
        } catch { throw CommandFailure(CommandFailure.wrongUsage, "\(error)") }
        let search = StoreSearch(store, storage, texts, parsed)
        try CommandFailure.working { try search.run(limit: limit, asJSON: arguments.json) }
    }

    private func searchedTexts(_ store: OpenedStore, _ storage: EntityStorage) throws -> TextIndex {
        let indexes = storage.textIndexes
        if let index {
            guard let found = indexes.first(where: { $0.names.contains(index) }) else {
                throw CommandFailure(CommandFailure.wrongUsage, "\(entity) has no text index of \(index).")
            }
            return found
        }
        let schema = store.catalog.schema.entities[storage.ordinal]
        guard let found = indexes.first ?? TextIndex.unindexed(nil, storage, schema) else {
            throw CommandFailure(CommandFailure.wrongUsage, "\(entity) has no texts.")
        }
        return found
    }
}
