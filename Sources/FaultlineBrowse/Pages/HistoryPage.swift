import FaultlineCommands
import FaultlineLog
import FaultlineModel
import FaultlineStore

/// The saves of the history, newest first.
struct HistoryPage {
    private static let saveCount = 50
    /// The records that the first search reads: a large save has several.
    private static let windowMin: UInt64 = 128

    let layout: PageLayout
    let view: StoreView

    func markup(before text: String?) throws -> Markup {
        var end = view.snapshot.nextID(of: .history)
        if let text {
            guard let number = UInt64(text), number <= end else {
                throw PageFailure(400, "The place of the page is not valid. Begin with the first page.")
            }
            end = number
        }
        let (saves, isFirst) = try saves(before: end)
        var table = MarkupTable(["save", "time (UTC)", "author", "changes"], numeric: [0])
        for save in saves {
            table.add([
                layout.link("\(save.number)", .transaction(save.number)),
                "\(DateText.text(of: save.secondsSince2001))",
                save.author.map { "\($0)" } ?? "<span class=\"none\">none</span>",
                "\(SaveChanges(save, in: view).summary)",
            ])
        }
        var next: Markup?
        if !isFirst, let oldest = saves.last {
            let address = Link.history.address(layout.base, [("before", "\(oldest.number)")])
            next = "<a class=\"next\" rel=\"next\" accesskey=\"n\" href=\"\(address)\">Older</a>"
        }
        return layout.page(
            "History", trail: [("Overview", .overview)],
            table.markup(empty: "The history has no save: it is off, or was deleted.") + (next ?? ""))
    }

    /// The last saves before a number, newest first, and whether there is none before them.
    private func saves(before end: RecordID) throws -> (saves: [StoredTransaction], isFirst: Bool) {
        var window = Self.windowMin
        while true {
            let start = end > window ? end - window : 0
            var saves: [StoredTransaction] = []
            try view.snapshot.forEachTransaction(after: start) { save in
                guard save.number < end else { return false }
                saves.append(save)
                return true
            }
            if saves.count > Self.saveCount || start == 0 {
                return (saves.suffix(Self.saveCount).reversed(), saves.count <= Self.saveCount)
            }
            window *= 4
        }
    }
}
