internal import FaultlineDisk
internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

/// The sources of one context's objects, for its `FaultAccount`.
///
/// Used by the context's thread.
final class FaultAccounting {
    let account: FaultAccount
    private var sources: [FaultAccount.Source] = []
    private var places: [FaultAccount.Source: Int32] = [:]
    /// Whether a measurement is under way, so that reads within it are not counted twice.
    var isWithin = false
    /// Places in `sources`, by ordinal of the entity and number of the object.
    private var origins: [[RecordID: Int32]]

    init(_ account: FaultAccount, entityCount: Int) {
        self.account = account
        origins = Array(repeating: [:], count: entityCount)
    }

    /// Records the source of fetched objects.
    func noteFetched(_ numbers: some Sequence<RecordID>, _ entity: EntityStorage, site: String) {
        let place = place(of: .init(entityName: entity.name, site: site, path: []))
        for number in numbers { origins[entity.ordinal][number] = place }
    }

    /// Records that objects were reached by a relationship of another object.
    func noteReached(
        _ numbers: some Sequence<RecordID>, _ destination: Int, by propertyName: String, of owner: RecordID,
        _ entity: EntityStorage
    ) {
        let source = source(of: owner, entity)
        let place = place(
            of: .init(entityName: source.entityName, site: source.site, path: source.path + [propertyName]))
        for number in numbers { origins[destination][number] = place }
    }

    func source(of number: RecordID, _ entity: EntityStorage) -> FaultAccount.Source {
        origins[entity.ordinal][number].map { sources[Int($0)] }
            ?? FaultAccount.Source(entityName: entity.name, site: nil, path: [])
    }

    private func place(of source: FaultAccount.Source) -> Int32 {
        if let place = places[source] { return place }
        let place = Int32(truncatingIfNeeded: sources.count)
        sources.append(source)
        places[source] = place
        return place
    }
}
