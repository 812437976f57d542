internal import FaultlineLog
internal import FaultlineStore

/// The objects that a search has found, stored and unsaved ones.
struct FoundObjects<T: PersistentModel> {
    let findings: TextFindings
    /// Changed and new objects, whose values here were searched.
    private let unsaved: [ObjectHandle]
    /// By changed or new object: its place in `unsaved`.
    private let places: [ObjectIdentifier: Int]
    /// By place in `unsaved`: the place in the order of creation.
    private let orders: [RecordID]
    /// The bit of numbers that are places in `unsaved`.
    private let mark: RecordID

    init(_ findings: TextFindings, unsaved: [ObjectHandle], mark: RecordID) {
        self.findings = findings
        self.unsaved = unsaved
        self.mark = mark
        var places: [ObjectIdentifier: Int] = [:]
        for (place, handle) in unsaved.enumerated() { places[ObjectIdentifier(handle.object)] = place }
        self.places = places
        orders = unsaved.map { handle in
            let identifier = handle.core.pointee.persistentIdentifier
            return identifier.isTemporary ? mark | identifier.number : identifier.number
        }
    }

    /// The numbers of the stored objects found, ascending.
    var stored: [RecordID] { findings.ids.filter { $0 & mark == 0 }.sorted() }

    func object(_ place: Int, _ home: EntityHome, _ context: ContextCore) -> T {
        let id = findings.ids[place]
        guard id & mark != 0 else { return ObjectRegistry(context).object(id, home, as: T.self) }
        guard let object = unsaved[Int(id & ~mark)].object as? T else {
            preconditionFailure("A search keeps the objects of its class only.")
        }
        return object
    }

    /// The place of an object found in the order of creation: its number; for a new one the temporary one, above all
    /// others.
    func order(_ place: Int) -> RecordID {
        let id = findings.ids[place]
        return id & mark == 0 ? id : orders[Int(id & ~mark)]
    }

    /// The number of an unsaved object.
    func id(of object: T) -> RecordID? { places[ObjectIdentifier(object)].map { mark | RecordID($0) } }
}
