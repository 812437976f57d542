import FaultlineCommands
import FaultlineLog
import FaultlineModel
import FaultlineStore

/// A table of objects, with a column for each property that fits.
struct ObjectRows {
    /// Properties behind these are on the object's page only.
    private static let columnCountMax = 12

    let layout: PageLayout
    let view: StoreView

    /// The table of objects of an entity.
    ///
    /// - Throws: If the disk does not answer.
    func markup(_ ids: [RecordID], of entity: EntityView, empty: String) throws -> Markup {
        let slots = Array(
            entity.properties.indices.filter { entity.storage.layout.columns[$0].kind != .toMany }
                .prefix(Self.columnCountMax))
        let numeric = slots.enumerated().filter { isNumber($0.element, entity) }.map { $0.offset + 1 }
        var table = MarkupTable(
            ["#"] + slots.map { "\(entity.properties[$0].name)" }, numeric: Set(numeric))
        let values = ValueMarkup(layout: layout)
        for id in ids {
            let link = layout.link("\(id)", .object(entity.name, id))
            do {
                let cells = try view.row(id, entity) { row in
                    slots.map { values.cell(view.value($0, row, entity), entity, id, entity.properties[$0].name) }
                }
                // It was deleted meanwhile.
                if let cells { table.add([link] + cells) }
            } catch {
                table.add([link, "<span class=\"warn\">\(CommandFailure.sentence(for: error))</span>"])
            }
        }
        return table.markup(empty: empty)
    }

    private func isNumber(_ slot: Int, _ entity: EntityView) -> Bool {
        guard case .attribute(let kind) = entity.storage.layout.columns[slot].kind else { return false }
        switch kind {
        case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64, .float, .double, .decimal: return true
        default: return false
        }
    }
}
