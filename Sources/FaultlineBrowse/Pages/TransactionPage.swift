import FaultlineCommands
import FaultlineLog
import FaultlineStore

/// One save of the history: the objects that it has changed.
struct TransactionPage {
    let layout: PageLayout
    let view: StoreView

    func markup(_ number: RecordID) throws -> Markup {
        guard number > 0, number <= Limits.recordIDMax, let save = try find(number) else {
            throw PageFailure(404, "The history has no save \(number): it may be older than the history reaches.")
        }
        let changes = SaveChanges(save, in: view)
        var table = MarkupTable(["object", "change", "properties"])
        for object in changes.objects {
            table.add([
                layout.link("\(object.entity) \(object.id)", .object(object.entity, object.id)),
                "\(object.operation)", "\(object.properties.joined(separator: ", "))",
            ])
        }
        let more: Markup? =
            changes.count > changes.objects.count
            ? "<p class=\"soft\">The first \(Quantity.count(changes.objects.count)) of \(Quantity.count(changes.count)) changes.</p>"
            : nil
        let author: Markup = save.author.map { " by \($0)" } ?? ""
        return layout.page(
            "Save \(number)", trail: [("Overview", .overview), ("History", .history)],
            """
            <p>\(DateText.text(of: save.secondsSince2001)) UTC\(author), process \(save.process), \
            transaction \(save.sequence).</p><p>\(changes.summary).</p>
            \(table.markup(empty: "It changed no object of the present schema."))\(more)
            """)
    }

    /// The save with a number.
    private func find(_ number: RecordID) throws -> StoredTransaction? {
        // A save has the number of its last record, and begins up to so many records before.
        for window: RecordID in [1, 64, 4_096, Limits.recordIDMax] {
            var found: StoredTransaction?
            try view.snapshot.forEachTransaction(after: number > window ? number - window : 0) { save in
                if save.number == number { found = save }
                return save.number < number
            }
            if found != nil || number <= window { return found }
        }
        return nil
    }
}
