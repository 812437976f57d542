internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

// The fetch that services make most: one object by the value of a unique attribute.

extension ContextCore {
    /// What a query finds that asks for nothing else than one value of a unique attribute.
    ///
    /// The row's own key is held against the one that was looked up, which takes a tenth of what compiling a filter for
    /// it does.
    ///
    /// - Returns: Nil if it asks for something else, or the answer has to be found another way.
    func fetchUnique<T: PersistentModel>(_ query: Query<T>) throws -> [T]? {
        guard let (index, value) = query.onlyUniqueKey, !hasPending(query.home) else { return nil }
        let entity = query.entity
        let kind = entity.layout.columns[index.slots[0]].kind
        var key = KeyWriter()
        guard key.append(value, as: kind) else { return nil }
        let holder = try key.withBytes { (bytes) throws(LogError) in
            try snapshot.firstID(in: index.definition, key: bytes)
        }
        guard let number = holder else { return [] }
        var buffer = RecordBuffer()
        guard number <= ModelCore.numberMask,
            let found = try foundRow(number, query.home, entity, asksObjects: false, into: &buffer)
        else { return nil }
        var own = KeyWriter()
        let isWhole = own.append(row: found.view, slot: index.slots[0])
        let isHeld = own.withBytes { own in key.withBytes { own.elementsEqual($0) } }
        guard isWhole, isHeld else { return nil }
        let reference = keep(found, query.home)
        return Array(unsafeUninitializedCapacity: 1) { objects, count in
            guard let target = objects.baseAddress else { return }
            withUnsafePointer(to: number) { number in
                withUnsafePointer(to: reference) { reference in
                    appendObjects(UnsafeBufferPointer(start: number, count: 1), rows: reference, query.home, to: target)
                }
            }
            count = 1
        }
    }
}

extension Query {
    /// The constant that a unique attribute must equal, where nothing else is asked and no other order is wanted.
    ///
    /// Not of floating-point attributes: for an index not-a-number equals itself.
    fileprivate var onlyUniqueKey: (index: UniqueIndex, value: RowValue)? {
        guard lowered.isExact, lowered.candidates == nil, order?.isEmpty == true, (descriptor.fetchOffset ?? 0) <= 0,
            case .compare(let slot, .equal, _) = lowered.filter, entity.slots[slot] == .attribute,
            case .attribute(let kind) = entity.layout.columns[slot].kind, ![.float, .double, .date].contains(kind)
        else { return nil }
        return uniqueKey
    }
}
