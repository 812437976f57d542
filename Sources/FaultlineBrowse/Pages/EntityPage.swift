import Faultline
import FaultlineCommands
import FaultlineLog
import FaultlineModel
import FaultlineObjects
import FaultlineStore

/// The objects of an entity, a page at a time.
struct EntityPage {
    static let objectCount = 50

    let layout: PageLayout
    let view: StoreView
    let context: ModelContext
    let query: ObjectQuery

    func markup(_ name: String) throws -> Markup {
        let entity = try view.entity(name)
        guard let described = view.schema.entitiesByName[name] else { throw PageFailure(404, "There is no \(name).") }
        let request = try query.request(described, in: view.schema)
        var cursor: FetchCursor?
        if let text = query.cursor {
            guard let found = FetchCursor(text) else {
                throw PageFailure(400, "The place of the page is not valid. Begin with the first page.")
            }
            cursor = found
        }
        let page = try context.fetchPage(request, after: cursor, size: Self.objectCount)
        let ids = page.objects.compactMap(\.objectID.primaryKey)
        let all = view.snapshot.recordCount(of: entity.storage.table)
        let form = FilterForm(layout: layout, entity: described, schema: view.schema, query: query)
        let rows = try ObjectRows(layout: layout, view: view).markup(
            ids, of: entity, empty: query.cursor == nil ? "No object." : "No more objects.")
        var next: Markup?
        if let cursor = page.cursor, !page.isLast {
            let items = query.items(after: "\(cursor)")
            next =
                "<a class=\"next\" rel=\"next\" accesskey=\"n\" href=\"\(Link.entity(name).address(layout.base, items))\">Next \(Self.objectCount)</a>"
        }
        return layout.page(
            name, trail: [("Overview", .overview)],
            """
            <p class="soft">\(Quantity.count(all)) objects\(query.conditions.isEmpty ? "" : ", filtered").</p>
            \(form.markup)\(rows)\(next)
            """)
    }
}
