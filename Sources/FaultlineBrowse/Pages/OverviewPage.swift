import FaultlineCommands
import FaultlineLog
import FaultlineModel
import FaultlineStore

/// The first page: entities, files, and whether the store is well.
struct OverviewPage {
    let layout: PageLayout
    let view: StoreView
    /// The lines of `faultline doctor`.
    let diagnosis: String
    /// The progress of a migration under way; nil if there is none.
    let migration: String?

    func markup() throws -> Markup {
        layout.page(
            "Overview",
            """
            \(migration.map { "<p class=\"panel warn\">\($0)</p>" } as Markup?)
            <h2>Entities</h2>\(entities.markup(empty: "The schema has no entities."))
            <h2>Health</h2><div class="panel"><pre>\(diagnosis)</pre></div>
            <h2>Pins</h2><p class="soft">Snapshots that a process holds are known to that process only: its \
            <code>container.pins</code>, its health and its metrics list them. These pages hold one for the time of a \
            request.</p>
            """)
    }

    private var entities: MarkupTable {
        var table = MarkupTable(["entity", "objects", "attributes", "relationships"], numeric: [1])
        for storage in view.rows.storage.entities {
            guard let entity = view.schema.entitiesByName[storage.name] else { continue }
            let attributes = entity.properties.compactMap(\.asAttribute).map(\.name).joined(separator: ", ")
            let relationships = entity.properties.compactMap(\.asRelationship).map { relationship -> Markup in
                "\(relationship.name) <span class=\"soft\">\(relationship.isToOneRelationship ? "→" : "⇉")</span> \(layout.link(relationship.destination, .entity(relationship.destination)))<br/>"
            }
            table.add([
                "<strong>\(layout.link(storage.name, .entity(storage.name)))</strong>",
                "\(Quantity.count(view.snapshot.recordCount(of: storage.table)))", "\(attributes)",
                Markup(relationships),
            ])
        }
        return table
    }
}
