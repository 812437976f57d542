import FaultlineModel
import FaultlineStore

/// An entity of the store.
struct EntityView {
    let storage: EntityStorage
    /// By slot.
    let properties: [any SchemaProperty]

    var name: String { storage.name }

    /// The slot of a property.
    ///
    /// - Throws: An answer of status 404 if there is none.
    func slot(_ name: String) throws(PageFailure) -> Int {
        guard let slot = properties.firstIndex(where: { $0.name == name }) else {
            throw PageFailure(404, "\(self.name) has no property \(name).")
        }
        return slot
    }
}
