import FaultlineCommands
import FaultlineLog
import FaultlineStore
import FaultlineText

/// Searches the texts of an entity, and prints the objects found.
struct StoreSearch {
    /// Words of the part of a text that is shown.
    private static let snippetWordCount = 12

    private let store: OpenedStore
    private let entity: EntityStorage
    private let index: TextIndex
    private let query: TextQuery

    init(_ store: OpenedStore, _ entity: EntityStorage, _ index: TextIndex, _ query: TextQuery) {
        self.store = store
        self.entity = entity
        self.index = index
        self.query = query
    }

    /// Prints the best objects: a line each, with rank, number and a part of a text.
    ///
    /// - Parameters:
    ///   - limit: At most so many.
    ///   - asJSON: Prints lines of JSON, the last one with the number of objects found.
    /// - Throws: If the store cannot be read, or a beginning stands for too many words.
    func run(limit: Int, asJSON: Bool) throws {
        let plan = TextPlan(query, fieldCount: index.slots.count)
        var search = TextSearch(plan, by: index, of: entity, store.rows, at: store.snapshot, excluding: [])
        let findings: TextFindings
        do throws(TextSearchFailure) { findings = try search.run(ranks: true) } catch {
            switch error {
            case .store(let error): throw error
            case .query(let error): throw CommandFailure(CommandFailure.wrongUsage, "\(error)")
            }
        }
        let scores = findings.scores(index)
        let ordered = findings.ids.indices.sorted { left, right in
            scores[left] != scores[right]
                ? scores[left] > scores[right] : findings.ids[left] < findings.ids[right]
        }
        let matcher = TextMatcher(query: query, analyzer: index.analyzer, fieldCount: index.slots.count)
        for place in ordered.prefix(limit) { try show(findings.ids[place], scores[place], matcher, asJSON) }
        if asJSON {
            var line = JSONLine()
            line.add("entity", entity.name)
            line.add("found", findings.count)
            line.add("indexed", search.hasIndex)
            Terminal.output.write(line.line + "\n")
        } else {
            Terminal.output.write("\(Quantity.count(findings.count)) found\n")
        }
    }

    private func show(_ id: RecordID, _ score: Double, _ matcher: TextMatcher, _ asJSON: Bool) throws {
        let (name, text, ranges) = try part(id, matcher)
        if asJSON {
            var line = JSONLine()
            line.add("entity", entity.name)
            line.add("id", Int(clamping: id))
            line.add("score", score, digits: 6)
            line.add("property", name)
            line.add("text", text)
            line.add("highlights", ranges.map { "\($0.lowerBound)-\($0.upperBound)" })
            Terminal.output.write(line.line + "\n")
            return
        }
        let shown = text.split(whereSeparator: \.isNewline).joined(separator: " ")
        Terminal.output.write("\(Quantity.fixed(score, digits: 3))  \(id)  \(name): \(shown)\n")
    }

    /// The part of a text that shows best why the object was found, and the places of the words in it.
    private func part(_ id: RecordID, _ matcher: TextMatcher) throws -> (String, String, [Range<Int>]) {
        var buffer = RecordBuffer()
        guard let record = try store.snapshot.read(id, in: entity.table, into: &buffer) else { return ("", "", []) }
        let snapshot = store.snapshot
        let texts = RowTexts(index) { (reference) throws(StoreError) in try snapshot.bytes(of: reference) }
        let bytes = try texts.bytes(of: store.rows.view(record, of: entity))
        return bytes.flatMap { $0 }.withUnsafeBufferPointer { all in
            var start = 0
            let fields = bytes.map { text in
                defer { start += text.count }
                return UnsafeBufferPointer(rebasing: all[start..<start + text.count])
            }
            guard let match = matcher.match(fields: fields),
                let part = match.snippet(
                    termCount: Self.snippetWordCount, fields: fields, analyzer: index.analyzer)
            else { return ("", "", []) }
            let text = String(decoding: fields[part.field][part.range], as: UTF8.self)
            let ranges = part.highlights.map {
                $0.lowerBound - part.range.lowerBound..<$0.upperBound - part.range.lowerBound
            }
            return (index.names[part.field], text, ranges)
        }
    }
}
