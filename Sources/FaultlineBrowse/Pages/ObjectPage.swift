import FaultlineCommands
import FaultlineLog
import FaultlineModel
import FaultlineStore

/// One object: its properties, values out of its row, and the objects that it is related to.
struct ObjectPage {
    /// The members of a relationship that the page shows.
    private static let memberCount = 10
    /// Members are counted up to this number.
    private static let countMax = 10_000

    let layout: PageLayout
    let view: StoreView

    func markup(_ name: String, _ id: RecordID) throws -> Markup {
        let entity = try view.entity(name)
        let values = ValueMarkup(layout: layout)
        var table = MarkupTable(["property", "value", "type"])
        let cells = try view.row(id, entity) { row in
            entity.properties.indices.map { slot in
                (slot, values.full(view.value(slot, row, entity), entity, id, entity.properties[slot].name))
            }
        }
        guard let cells else {
            throw PageFailure(404, "There is no \(name) \(id): it was deleted, or never existed.")
        }
        var related: Markup = ""
        for (slot, cell) in cells {
            let property = entity.properties[slot]
            if case .toMany(let relationship) = entity.storage.slots[slot] {
                related += try members(of: id, entity, property.name, relationship)
            } else {
                table.add(["<strong>\(property.name)</strong>", cell, type(property)])
            }
        }
        let title = view.title(of: id, entity.storage.ordinal).map { " · \($0)" } ?? ""
        return layout.page(
            "\(name) \(id)\(title)", trail: [("Overview", .overview), (name, .entity(name))],
            "\(table.markup("object", empty: "The entity has no attributes."))\(related)")
    }

    private func type(_ property: any SchemaProperty) -> Markup {
        guard let attribute = property.asAttribute else {
            return "<span class=\"kind\">\(property.asRelationship?.destination ?? "")</span>"
        }
        let unique = attribute.isUnique ? ", unique" : ""
        return "<span class=\"kind\">\(attribute.valueTypeName)\(unique)</span>"
    }

    private func members(
        of id: RecordID, _ entity: EntityView, _ property: String, _ relationship: ToManyStorage
    ) throws -> Markup {
        let (ids, count) = try view.members(
            of: id, relationship, 0..<Self.memberCount, countMax: Self.countMax)
        let shown = count < Self.countMax ? Quantity.count(count) : "\(Quantity.count(Self.countMax)) or more"
        let destination = try view.entity(view.entityName(relationship.destination))
        let rows = try ObjectRows(layout: layout, view: view).markup(ids, of: destination, empty: "No members.")
        let all: Markup? =
            count > ids.count
            ? "<p>\(layout.link("All \(shown)", .members(entity.name, id, property)))</p>" : nil
        return "<h2>\(property) <span class=\"soft\">\(shown) \(destination.name)</span></h2>\(rows)\(all)"
    }
}
