internal import FaultlineStore

// The counts of the passes, by stage, entity and mapping.

extension MigrationCourse {
    func entityPlace(of name: String) -> Int? {
        guard let stage else { return nil }
        return counts.stages[stage].entities.place(of: name)
    }

    private var currentEntityPlace: Int? {
        if entityPlace == nil, !entity.isEmpty { entityPlace = entityPlace(of: entity) }
        return entityPlace
    }

    func mappingPlace(of name: String) -> Int? {
        guard let stage else { return nil }
        return counts.stages[stage].mappings.place(of: name)
    }

    /// Counts an old object for the current entity and mapping.
    func countRead() {
        counts.objectsRead += 1
        guard let stage else { return }
        if let place = currentEntityPlace { counts.stages[stage].entities[place].read += 1 }
        if let mappingPlace { counts.stages[stage].mappings[mappingPlace].read += 1 }
    }

    /// Counts rows that contexts of closures have read, of all entities.
    func countRead(_ rows: Int) { counts.objectsRead += rows }

    /// Counts an old object that no new object was made of.
    func countDropped() {
        counts.objectsDropped += 1
        guard let stage else { return }
        if let place = currentEntityPlace { counts.stages[stage].entities[place].dropped += 1 }
        if let mappingPlace { counts.stages[stage].mappings[mappingPlace].dropped += 1 }
    }

    /// Counts a new object that a mapping has made of an old one.
    func countMade(by mapping: String) {
        guard let stage, let place = mappingPlace(of: mapping) else { return }
        counts.stages[stage].mappings[place].written += 1
    }

    /// Counts a new object that was found by its unique values.
    func countFound(_ entity: String) {
        counts.objectsFound += 1
        guard let stage, let place = entityPlace(of: entity) else { return }
        counts.stages[stage].entities[place].found += 1
    }

    /// Counts objects that are written, by entity.
    func countWritten(_ written: [String: Int]) {
        for (entity, count) in written.sorted(by: { $0.key < $1.key }) where count > 0 {
            counts.objectsWritten += count
            guard let stage, let place = entityPlace(of: entity) else { continue }
            counts.stages[stage].entities[place].written += count
        }
    }

    /// Counts objects that were deleted, by entity.
    func countDeleted(_ deleted: [String: Int]) {
        for (entity, count) in deleted.sorted(by: { $0.key < $1.key }) where count > 0 {
            counts.objectsDeleted += count
            guard let stage, let place = entityPlace(of: entity) else { continue }
            counts.stages[stage].entities[place].deleted += count
        }
    }

    /// Counts rows of an entity that were copied.
    func countCopied(_ count: Int, of entity: String) {
        counts.objectsCopied += count
        guard let stage, let place = entityPlace(of: entity) else { return }
        counts.stages[stage].entities[place].copied += count
    }

    /// Counts a large value that a new object took over.
    func countMoved(blobs: Int) { counts.blobsMoved += blobs }

    /// Counts large values that no new object took over.
    func countLeftBehind(blobs: Int) { counts.blobsLeftBehind += blobs }

    /// Counts changes that a closure has not saved.
    func countNotSaved(_ changes: Int) { counts.changesNotSaved += changes }

    /// The properties that both versions of the current streamed stage have.
    var carriedProperties: [CarriedProperty] {
        get { stage.flatMap { counts.stages[$0].properties } ?? [] }
        set { if let stage { counts.stages[stage].properties = newValue } }
    }

    /// Records the values that the current stage leaves out; only the first call has an effect.
    func noteLeftBehind(_ leftBehind: [LeftBehindCounts]) {
        guard let stage, counts.stages[stage].leftBehind.isEmpty else { return }
        counts.stages[stage].leftBehind = leftBehind
    }
}

extension [ObjectCounts] {
    /// The index of a name; adds it if it is missing.
    fileprivate mutating func place(of name: String) -> Int {
        if let place = firstIndex(where: { $0.name == name }) { return place }
        append(ObjectCounts(name: name))
        return count - 1
    }
}
