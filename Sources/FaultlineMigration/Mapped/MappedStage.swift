internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineObjects
internal import FaultlineStore

/// The state of a mapped stage: the two contexts, the pairs of old and new objects, and the unwritten batch.
final class MappedStage: MappedObjects {
    let mappings: [ResolvedMapping]
    let source: StageContext
    let target: StageContext
    private let session: StageSession
    let course: MigrationCourse
    let associations: [AssociationTable]
    /// Bytes of unsaved values that make a batch.
    private let batchByteCount: Int
    private var batchClock: BatchClock
    private static let objectsMax = 8_192

    private(set) var record: MigrationRecord
    /// The progress of the stage.
    var progress: MappedProgress
    /// Whether the stage resumes there after a kill, instead of restarting.
    var goesOn = false
    private var unsaved = UnsavedPairs()
    /// Numbers that were chosen for objects of this batch.
    private var chosen: Set<Choice> = []
    /// Mappings in which a new object has more than one old one.
    private var merging: Set<Int> = []
    var movedBlobs: MovedBlobs
    /// How each mapping works on rows; nil for one that makes objects.
    private(set) var rows: [RowMapping?] = []
    /// Makes the rows of the batch; nil while objects are made.
    var conversion: RowConversion?

    /// Objects that calls of this batch were made for: old ones in the first pass, new ones in the second.
    private(set) var batch: [RecordID] = []
    /// The counts when the batch began.
    private var countsAtFlush: MigrationCounts

    private struct Choice: Hashable {
        let entityName: String
        let number: RecordID
    }

    /// - Parameters:
    ///   - mappings: The mappings, resolved.
    ///   - source: Reads the old version.
    ///   - target: Writes the new version.
    ///   - session: The shared state of the target's contexts.
    ///   - record: The migration record in the catalog.
    ///   - course: The counts of the migration.
    ///   - options: How the migration runs.
    /// - Throws: `.storage` if the record's map lacks the tables of the mappings.
    init(
        _ mappings: [ResolvedMapping], source: StageContext, target: StageContext, session: StageSession,
        record: MigrationRecord, course: MigrationCourse, options: MigrationOptions
    ) throws(MigrationError) {
        self.mappings = mappings
        self.source = source
        self.target = target
        self.session = session
        self.record = record
        self.course = course
        batchByteCount = options.stageBatchByteCount
        batchClock = BatchClock(options)
        countsAtFlush = course.counts
        progress = record.mapped ?? MappedProgress()
        merging = Set(progress.merging)
        let links = record.targetMap.passingLinks
        guard links.count == mappings.count + 1 else {
            throw MigrationError(.storage, "The catalog's record of the migration under way is of another release.")
        }
        associations = links.dropLast().map(AssociationTable.init)
        movedBlobs = MovedBlobs(LinkSide(links[mappings.count], isLeft: true))
        target.core.rules.refusesUpserts = true
        target.core.rules.defersRelationshipRules = true
        target.core.rules.keepsGivenOrder = true
        target.core.rules.isSavedByStage = true
        target.core.rules.mayMoveBlob = { [unowned self] blob in movedBlobs.move(blob, newest()) }
        source.core.rules.willRefer = { [unowned self] blob, entityName in move(blob, of: entityName) }
    }

    /// Decides which mappings make rows, before the first pass.
    ///
    /// None does in a dry run or with a quarantine, if the manager is of a class of the program, whose code may observe
    /// the context, or if the stage was begun by another rule, or with objects.
    ///
    /// - Throws: The store's error if it cannot be read: the next run must decide as this one.
    func chooseRows(_ manager: MigrationManager) throws {
        if record.mapped == nil { progress.rowRule = RowMapping.rule }
        guard type(of: manager) == MigrationManager.self, !course.goesOnBehindFailures, course.quarantine.isEmpty,
            progress.rowRule == RowMapping.rule
        else {
            progress.rowRule = 0
            return
        }
        rows = try mappings.map { try RowMapping($0, among: mappings, from: source, to: target) }
    }

    /// How a mapping works on rows; nil if it makes objects.
    func rows(of mapping: ResolvedMapping) -> RowMapping? { rows.isEmpty ? nil : rows[mapping.place] }

    /// The relationships that are set on objects.
    func relationships(of mapping: ResolvedMapping) -> [ResolvedMapping.Relation] {
        rows(of: mapping)?.relationships ?? mapping.relationships
    }

    // MARK: Pairs of old and new objects

    /// Records that an old object became a new one, by a mapping.
    ///
    /// - Parameters:
    ///   - old: The old object.
    ///   - new: The new object.
    ///   - mapping: The mapping.
    ///   - isNew: Whether the mapping has just made the new object; if it is unsaved, it is in no pair yet.
    /// - Throws: The store's error if it cannot be read.
    func associate(
        _ old: ManagedObject, with new: ManagedObject, _ mapping: ResolvedMapping, isNew: Bool
    ) throws {
        let number = old.objectID.number
        // Code of the mapping may have saved the new object, and found it.
        let isNew = isNew && new.isInserted
        if try !isNew && isAssociated(old: number, new, mapping) { return }
        associationCount += 1
        course.countMade(by: mapping.mapping.name)
        if isNew, mapping.isOneToOne {
            target.choose(number, for: new)
            return unsaved.append(number, new, by: mapping.place)
        }
        let isFirst = isNew || new.isInserted && !unsaved.contains(new)
        if !isFirst { merging.insert(mapping.place) }
        if mapping.keepsIdentity, isFirst {
            let choice = Choice(entityName: new.entity.name, number: number)
            if !chosen.contains(choice), try !target.isTaken(number, entityNamed: new.entity.name) {
                chosen.insert(choice)
                target.choose(number, for: new)
            }
        }
        unsaved.append(number, new, by: mapping.place)
    }

    private func isAssociated(
        old number: RecordID, _ new: ManagedObject, _ mapping: ResolvedMapping
    ) throws -> Bool {
        if unsaved.contains(number, new, by: mapping.place) { return true }
        guard !new.isInserted, !mapping.isOneToOne else { return false }
        return try associations[mapping.place].contains(number, new.objectID.number, in: newest())
    }

    /// The new objects of an old one, by a mapping, at most `limit`, in the order of their creation.
    func destinations(of old: RecordID, by place: Int, limit: Int) throws -> [ManagedObject] {
        let mapping = mappings[place]
        guard let name = mapping.destination?.name else { return [] }
        var found: [ManagedObject] = []
        func add(_ number: RecordID) throws -> Bool {
            // The rest was deleted since.
            if try target.isTaken(number, entityNamed: name) {
                let object = try target.dynamicObject(number, entityNamed: name)
                if !object.isDeleted { found.append(object) }
            }
            return found.count < limit
        }
        if mapping.isOneToOne {
            _ = try add(old)
        } else {
            try associations[place].forEachDestination(of: old, in: newest(), add)
        }
        for object in unsaved.destinations(of: old, by: place) where found.count < limit && !object.isDeleted {
            found.append(object)
        }
        return found
    }

    /// Calls `body` with the old objects of a new one, by a mapping, one at a time; it returns false to stop.
    func forEachSource(of new: ManagedObject, by place: Int, _ body: (ManagedObject) throws -> Bool) throws {
        let mapping = mappings[place]
        guard let name = mapping.source?.name else { return }
        var goesOn = true
        func tell(_ number: RecordID) throws -> Bool {
            goesOn = try body(source.dynamicObject(number, entityNamed: name))
            return goesOn
        }
        if !new.isInserted, mapping.isOneToOne {
            _ = try tell(new.objectID.number)
        } else if !new.isInserted {
            try associations[place].forEachSource(of: new.objectID.number, in: newest(), tell)
        }
        guard goesOn else { return }
        for number in unsaved.sources(of: new, by: place) { guard try tell(number) else { return } }
    }

    /// The number of the last object that `forEachDestination` may reach; 0 for none.
    func lastDestination(of mapping: ResolvedMapping) throws -> RecordID {
        guard mapping.isOneToOne, let name = mapping.destination?.name else {
            return associations[mapping.place].last(in: newest())
        }
        return try target.lastStoredNumber(entityNamed: name)
    }

    /// Walks the new objects of a mapping once each, with the first of their old objects, and with the number of the
    /// object or of the association: from after one number through another.
    func forEachDestination(
        of mapping: ResolvedMapping, after last: RecordID, through end: RecordID,
        _ body: (_ new: ManagedObject, _ old: ManagedObject, _ place: RecordID) throws -> Void
    ) throws {
        guard let sourceName = mapping.source?.name, let name = mapping.destination?.name else { return }
        if mapping.isOneToOne {
            try target.forEachStored(entityNamed: name, where: nil, after: last, through: end) { new, number, _ in
                try body(new, source.dynamicObject(number, entityNamed: sourceName), number)
            }
            return
        }
        let snapshot = newest()
        let table = associations[mapping.place]
        let isMerging = merging.contains(mapping.place)
        // Links are kept outside of the rows, but references in them.
        let readsRows = !isMerging && mapping.relationships.contains(where: \.isToOne)
        try table.forEach(
            in: snapshot, after: last, through: end,
            willVisit: { pairs in
                guard readsRows else { return }
                source.readAhead(pairs.map(\.source), entityNamed: sourceName)
                target.readAhead(pairs.map(\.destination), entityNamed: name)
            }
        ) { old, number, place in
            if isMerging, try table.sources(of: number, limit: 1, in: snapshot).first != old { return }
            guard try target.isTaken(number, entityNamed: name) else { return }
            let new = try target.dynamicObject(number, entityNamed: name)
            try body(new, source.dynamicObject(old, entityNamed: sourceName), place)
        }
    }

    /// Upper bound: counts deleted objects too, and an object once per source.
    func destinationCount(of mapping: ResolvedMapping) throws -> Int {
        guard let name = mapping.destination?.name else { return 0 }
        if mapping.isOneToOne { return target.storedCount(entityNamed: name) }
        return associations[mapping.place].count(in: newest())
    }

    var visitedPairCount: Int { associations.reduce(0) { $0 + $1.visitedCount } }

    func newest() -> Snapshot { target.core.store.log.snapshot() }

    // MARK: Batches

    /// The first error that a context met, also if the policy did not rethrow it.
    func takeError() -> (any Error)? {
        let pending = target.takePendingError() ?? source.takePendingError()
        return pending.map(session.cause) ?? session.error
    }

    /// The cause of an error that a call threw.
    func cause(of error: any Error) -> any Error { session.cause(of: error) }

    /// The number of recorded pairs.
    private(set) var associationCount = 0

    /// Whether a new object of a mapping may have more than one old one.
    func mayMerge(_ place: Int) -> Bool { merging.contains(place) }

    /// Begins the calls for an object.
    func begin(_ number: RecordID) {
        if batch.isEmpty { batchClock.begin() }
        batch.append(number)
    }

    /// Drops unsaved changes.
    func discard() {
        target.core.dropUnsaved()
        _ = takeError()
        _ = session.takeError()
        movedBlobs.forgetMoved()
        forgetBatch()
        course.forget(since: countsAtFlush)
    }

    /// Records an old object for which calls failed, or whose new objects could not be saved.
    ///
    /// Outside of a dry run the old objects are moved to the quarantine.
    ///
    /// - Parameters:
    ///   - number: The object that the calls were made for.
    ///   - entity: Its entity.
    ///   - error: The error.
    ///   - makers: The old objects, if the calls were made for a new one, or if other mappings have used the old one
    ///     already: then the stage restarts without them.
    /// - Throws: If too many objects fail.
    func noteFailure(
        of number: RecordID?, entity: String, _ error: any Error, makers: [(entity: String, number: RecordID)]? = nil
    ) throws {
        countsAtFlush = course.counts
        let refusal = target.core.saving.refusal
        target.core.saving.refusal = nil
        if let findings = course.findings {
            return try findings.note(entity, number, stage: course.stageName, error, refusal: refusal)
        }
        for object in makers ?? number.map({ [(entity, $0)] }) ?? [] {
            try course.quarantine.take(object.number, of: object.entity, .init(error, refusal: refusal))
        }
        if makers != nil { course.quarantine.isLate = true }
    }

    /// Saves if the batch is full, or has taken long and is not repeated after a kill.
    func flushIfFull() throws {
        if isFull || goesOn && batchClock.isDue { try flush() }
    }

    private var isFull: Bool {
        target.unsavedByteCount + (conversion?.byteCount ?? 0) >= batchByteCount
            || target.unsavedCount >= Self.objectsMax
            || unsaved.pairs.count >= Self.objectsMax || batch.count >= Self.objectsMax
            || target.unsavedLinkCount >= Self.objectsMax
    }

    func flush() throws { try save(adding: []) }

    /// Saves during a call of a policy, which cannot be resumed: the stage restarts after a kill, unless there is
    /// nothing to save.
    func flushAmidCall() throws {
        guard target.pendingCount > 0 || target.unsavedLinkCount > 0 || !unsaved.pairs.isEmpty else { return }
        goesOn = false
        try flush()
    }

    // MARK: Resuming

    /// Begins a pass over a mapping, unless the stage resumes within it.
    func enter(_ pass: MappedProgress.Pass, _ place: Int) {
        guard progress.pass != pass || progress.mapping != place else { return }
        progress.pass = pass
        progress.mapping = place
        progress.isBegun = false
        progress.lastDone = 0
        progress.done = 0
        progress.end = 0
    }

    /// Records that the next save finishes a pass over a mapping.
    func leave(_ pass: MappedProgress.Pass, _ place: Int) { enter(pass, place + 1) }

    /// Records that the next save finishes an object.
    func reach(_ number: RecordID) {
        progress.lastDone = number
        progress.done = course.done + 1
    }

    func save(adding left: [UInt64]) throws {
        course.countWritten(target.insertedCounts)
        if let conversion { course.countWritten([conversion.entityName: conversion.count]) }
        movedBlobs.forgetMoved()
        try target.core.save { transaction, number in
            var writer = RowWriter(self.target.core.store)
            for pair in self.unsaved.pairs where !self.mappings[pair.place].isOneToOne {
                // None for an object that was deleted before it was written.
                let destination = number(pair.destination)
                guard destination != 0 else { continue }
                try self.associations[pair.place].associate(pair.source, with: destination, &writer, in: &transaction)
            }
            try self.conversion?.write(&writer, in: &transaction)
            try self.movedBlobs.write(&writer, in: &transaction)
            try LeftBehind.leave(left.sorted(), in: &transaction)
            self.course.countLeftBehind(blobs: left.count)
            self.course.countMoved(blobs: self.movedBlobs.moved.count)
            self.record.report = self.course.settledCounts
            // The save itself may have left blobs behind.
            self.record.leftBehindCount =
                try StoredCatalog.migration(in: transaction)?.leftBehindCount ?? self.record.leftBehindCount
            self.noteProgress()
            try StoredCatalog.put(self.record, StoredCatalog.RecordNumber.migration, in: &transaction)
        }
        forgetBatch()
        countsAtFlush = course.counts
    }

    private func noteProgress() {
        progress.merging = merging.sorted()
        if progress.pass < .leave {
            progress.leftBehindCount = record.leftBehindCount
            progress.blobsLeftBehind = record.report.blobsLeftBehind
        }
        record.mapped = goesOn ? progress : nil
        // The last pass is repeated as a whole.
        if goesOn, progress.pass < .leave { record.noteProgress(isOnRequest: course.options.resumesAnyway) }
    }

    private func forgetBatch() {
        conversion?.removeAll()
        unsaved.removeAll()
        chosen.removeAll(keepingCapacity: true)
        movedBlobs.forgetAllowed()
        batch.removeAll(keepingCapacity: true)
    }
}
