import FaultlineLog
import FaultlineStore

/// The members of a to-many relationship, in its order, a page at a time.
struct MembersPage {
    private static let memberCount = 50
    /// Up to this place a page reads the keys before it at once.
    static let nearPlace = 10_000
    /// The farthest place.
    private static let placeMax = 10_000_000

    let layout: PageLayout
    let view: StoreView

    func markup(_ name: String, _ id: RecordID, _ property: String, from place: String?) throws -> Markup {
        let entity = try view.entity(name)
        let slot = try entity.slot(property)
        guard case .toMany(let relationship) = entity.storage.slots[slot] else {
            throw PageFailure(404, "\(name).\(property) is no to-many relationship.")
        }
        guard try view.row(id, entity, { _ in true }) == true else {
            throw PageFailure(404, "There is no \(name) \(id): it was deleted, or never existed.")
        }
        guard let first = Int(place ?? "0"), (0...Self.placeMax).contains(first) else {
            throw PageFailure(400, "The place of the page is not valid. Begin with the first page.")
        }
        let end = first + Self.memberCount
        let (ids, count) = try view.members(of: id, relationship, first..<end, countMax: end + 1)
        let destination = try view.entity(view.entityName(relationship.destination))
        let rows = try ObjectRows(layout: layout, view: view).markup(ids, of: destination, empty: "No members.")
        var next: Markup?
        if count > end {
            let address = Link.members(name, id, property).address(layout.base, [("from", "\(end)")])
            next =
                "<a class=\"next\" rel=\"next\" accesskey=\"n\" href=\"\(address)\">Next \(Self.memberCount)</a>"
        }
        return layout.page(
            property, trail: [("Overview", .overview), (name, .entity(name)), ("\(name) \(id)", .object(name, id))],
            rows + (next ?? ""))
    }
}
