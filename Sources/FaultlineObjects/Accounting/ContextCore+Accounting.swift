internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

extension ContextCore {
    /// Fetches, and records its reads and the source of its objects, if there is an account.
    @inline(__always)
    func accountedFetch<T: PersistentModel>(
        _ fileID: StaticString, _ line: UInt, _ body: () throws -> [T]
    ) rethrows -> [T] {
        guard let accounting = reports.accounting else { return try body() }
        let before = tally.counters
        let start = ContinuousClock.now
        accounting.isWithin = true
        defer { accounting.isWithin = false }
        let found = try body()
        guard let core = found.first?._$coreAddress(),
            let entity = core.pointee.home.takeUnretainedValue().entity
        else { return found }
        let site = "\(fileID):\(line)"
        let stored = found.lazy.filter { !$0._$coreAddress().pointee.has(.temporary) }
        accounting.noteFetched(stored.map { $0._$coreAddress().pointee.number }, entity, site: site)
        accounting.account.add(
            FaultAccount.Source(entityName: entity.name, site: site, path: []), tally.counters - before,
            ContinuousClock.now - start)
        return found
    }

    /// Records that objects with these numbers were reached by a relationship.
    func noteReached(_ numbers: some Sequence<RecordID>, by slot: Int, of core: borrowing ModelCore) {
        guard let accounting = reports.accounting, !core.has(.temporary) else { return }
        let home = core.home.takeUnretainedValue()
        guard let entity = home.entity, let property = home.type?.properties[slot] else { return }
        let destination: Int
        switch entity.slots[slot] {
        case .attribute: return
        case .toOne(let relationship): destination = relationship.destination
        case .toMany(let relationship): destination = relationship.destination
        }
        accounting.noteReached(numbers, destination, by: property.name, of: core.number, entity)
    }

    /// Calls `body`, and records its reads for an object, if there is an account.
    @inline(__always)
    func accounted<R, E: Error>(
        _ number: RecordID, _ entity: @autoclosure () -> EntityStorage?, _ slot: Int? = nil, _ body: () throws(E) -> R
    ) throws(E) -> R {
        guard let accounting = reports.accounting, !accounting.isWithin else { return try body() }
        return try accountedSlowly(accounting, number, entity(), slot, body)
    }

    @inline(never)
    private func accountedSlowly<R, E: Error>(
        _ accounting: FaultAccounting, _ number: RecordID, _ entity: EntityStorage?, _ slot: Int?,
        _ body: () throws(E) -> R
    ) throws(E) -> R {
        let before = tally.counters
        let start = ContinuousClock.now
        accounting.isWithin = true
        defer {
            accounting.isWithin = false
            let read = tally.counters - before
            if let entity, read != FaultCounters() {
                accounting.account.add(
                    accounting.source(of: number, entity),
                    propertyName: slot.flatMap { homes.propertyName($0, of: entity) }, read, ContinuousClock.now - start
                )
            }
        }
        return try body()
    }
}
