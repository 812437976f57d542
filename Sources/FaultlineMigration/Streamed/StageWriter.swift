internal import FaultlineLog
internal import FaultlineObjects
internal import FaultlineStore

/// Collects the new objects of a streamed stage's closures, and saves them batch by batch.
///
/// Each batch is one transaction together with its progress, so that a kill loses at most the batch that was being
/// filled. Each worker has its own; the shared state is used by the worker whose turn it is.
final class StageWriter: NewObjectWriter {
    private let target: StageContext
    /// Bytes of unsaved values and links in a batch.
    private let batchByteCount: Int
    @exclusivity(unchecked) private var batchClock: BatchClock
    private let progress: StreamedProgress
    private var course: MigrationCourse { progress.course }
    let isDryRun: Bool
    /// The old names of entities of the new version.
    private let oldNames: [String: String]
    private let carrying: CarryingOver
    /// Objects of this batch by the key of a unique index, for `upsert`.
    private var pendingKeys: [PendingKey: AnyObject] = [:]
    /// How many of the batch's new objects were entered there, by class.
    private var keyedCounts: [ObjectIdentifier: Int] = [:]

    // The current old object.
    private var oldEntity = ""
    private var oldNumber: RecordID = 0
    private var isConverting = false
    private var isIdentityTaken = false
    /// The index of its first new object among the unsaved ones.
    private var firstInserted = 0
    private var wroteAnything = false
    /// Old objects of this batch.
    @exclusivity(unchecked) private(set) var batch: [RecordID] = []
    /// The counts when the batch began.
    private var countsAtFlush: MigrationCounts
    @exclusivity(unchecked) private var uncounted = Uncounted()
    /// The index of the entity of the batch's objects.
    private var entityPlace = 0
    private var doneInBatch = 0
    /// Large values of the batch's old objects that no new object has taken over yet.
    @exclusivity(unchecked) private var blobsToMove: Set<UInt64> = []
    /// Bytes of new values that were saved so far.
    private(set) var savedByteCount = 0

    /// A batch ends when it has this many old objects, new objects or links, for any size of the new ones.
    private static let batchMax = 16_384

    private struct PendingKey: Hashable {
        let index: UInt32
        let bytes: [UInt8]
    }

    /// Counts that are not reported yet, because it is another worker's turn.
    private struct Uncounted {
        var read = 0
        var dropped = 0
        /// Entities of objects that `upsert` found.
        var found: [String] = []
    }

    init(
        target: StageContext, progress: StreamedProgress, oldNames: [String: String], carrying: CarryingOver,
        options: MigrationOptions
    ) {
        self.target = target
        self.carrying = carrying
        self.progress = progress
        self.oldNames = oldNames
        batchByteCount = options.stageBatchByteCount
        batchClock = BatchClock(options)
        isDryRun = progress.course.findings != nil
        countsAtFlush = isDryRun || progress.course.quarantine.isOn ? progress.course.counts : MigrationCounts()
        target.core.rules.mayMoveBlob = { [unowned self] blob in mayMove(blob) }
    }

    /// The current old object; nil between two.
    var current: RecordID? { isConverting ? oldNumber : nil }

    /// Records that an entity is done.
    func moveOn(toEntity place: Int) throws {
        progress.record.entity = place
        progress.record.lastDone = 0
        progress.record.entityDone = 0
        try flush()
    }

    // MARK: One old object

    /// Begins the work on one old object.
    func begin(entity: String, number: RecordID, blobs: [UInt64]) {
        oldEntity = entity
        oldNumber = number
        isConverting = true
        isIdentityTaken = false
        firstInserted = target.insertedCount
        wroteAnything = false
        blobsToMove.formUnion(blobs)
        if batch.isEmpty { batchClock.begin() }
        batch.append(number)
        uncounted.read += 1
    }

    /// Copies the values that the closure has not set to the new object that keeps its identity.
    ///
    /// - Throws: `StoreError` if its row cannot be read.
    func carryOver(_ old: AnyObject) throws {
        try carrying.note(old, oldNumber, of: oldEntity, from: firstInserted)
    }

    /// Prevents a property from being carried over.
    func leave<New: PersistentModel>(_ property: PartialKeyPath<New>) throws {
        let type = New._$modelType
        guard let slot = type.slots[property], let name = type.slotsByName.first(where: { $0.value == slot })?.key
        else {
            throw MigrationError(
                .stageFailed,
                "output.leave was given a key path of \(New.self) that is no stored property. Name an attribute or a relationship of the new class.",
                entity: type.entityName)
        }
        carrying.leave(name, of: type.entityName)
    }

    /// Ends the work on the old object.
    func end(entityPlace: Int) {
        if !wroteAnything { uncounted.dropped += 1 }
        isConverting = false
        target.forgetReadValue()
        self.entityPlace = entityPlace
        doneInBatch += 1
    }

    /// Reports the counts.
    func settle() {
        for _ in 0..<uncounted.read { course.countRead() }
        for _ in 0..<uncounted.dropped { course.countDropped() }
        for entity in uncounted.found { course.countFound(entity) }
        uncounted = Uncounted()
    }

    /// Whether the batch should be saved.
    var isFull: Bool {
        target.unsavedByteCount >= batchByteCount || target.unsavedCount >= Self.batchMax
            || batch.count >= Self.batchMax || target.unsavedLinkCount >= Self.batchMax
    }

    /// Whether the batch should be saved although it is not full, because it has taken long.
    ///
    /// A worker whose turn it is not goes on: waiting for its turn would take the advantage of several threads.
    var isDue: Bool { batchClock.isDue }

    /// Saves the unsaved objects.
    ///
    /// - Parameter isOfEnd: Whether they are work at the stage's end, which is progress without old objects.
    /// - Throws: The store's error if they break a rule or cannot be written.
    func flush(isOfEnd: Bool = false) throws {
        target.core.catchUp()
        settle()
        carrying.settleBatch(from: batch.first, of: entityPlace)
        savedByteCount += target.unsavedByteCount
        course.countWritten(target.insertedCounts)
        var record = progress.record
        if doneInBatch > 0, let last = batch.last {
            record.entity = entityPlace
            record.lastDone = last
            record.entityDone += doneInBatch
        }
        // A stage that begins again drops its batches.
        if doneInBatch > 0 || isOfEnd, record.restart.map({ $0.goesOn == true }) ?? true {
            record.noteProgress(isOnRequest: course.options.resumesAnyway)
        }
        try target.core.save { transaction, _ in
            // Large values that no new object took over are deleted after the migration has switched: the old state
            // still has them.
            let leftBehind = self.blobsToMove.sorted()
            try LeftBehind.leave(leftBehind, in: &transaction)
            self.course.countLeftBehind(blobs: leftBehind.count)
            record.report = self.course.settledCounts
            // The save itself may have left blobs behind.
            record.leftBehindCount =
                try StoredCatalog.migration(in: transaction)?.leftBehindCount ?? record.leftBehindCount
            try StoredCatalog.put(record, StoredCatalog.RecordNumber.migration, in: &transaction)
        }
        progress.record = record
        blobsToMove.removeAll(keepingCapacity: true)
        pendingKeys.removeAll(keepingCapacity: true)
        keyedCounts.removeAll(keepingCapacity: true)
        batch.removeAll(keepingCapacity: true)
        if course.goesOnBehindFailures { countsAtFlush = course.counts }
        doneInBatch = 0
    }

    /// Drops unsaved changes.
    func discard() {
        target.core.dropUnsaved()
        carrying.discardBatch()
        blobsToMove.removeAll(keepingCapacity: true)
        pendingKeys.removeAll(keepingCapacity: true)
        keyedCounts.removeAll(keepingCapacity: true)
        batch.removeAll(keepingCapacity: true)
        uncounted = Uncounted()
        course.forget(since: countsAtFlush)
        doneInBatch = 0
    }

    /// Records an old object that could not be converted or saved; outside of a dry run it is quarantined, in one
    /// transaction with the progress after it.
    func noteFailure(of number: RecordID, entity: String, _ error: any Error) throws {
        course.countRead()
        countsAtFlush = course.counts
        let refusal = target.core.saving.refusal
        target.core.saving.refusal = nil
        if let findings = course.findings {
            return try findings.note(entity, number, stage: course.stageName, error, refusal: refusal)
        }
        isConverting = false
        var record = progress.record
        record.lastDone = number
        record.entityDone += 1
        record.report = course.settledCounts
        try course.quarantine.take(number, of: entity, .init(error, refusal: refusal)) { transaction in
            try StoredCatalog.put(record, StoredCatalog.RecordNumber.migration, in: &transaction)
        }
        progress.record = record
    }

    private func mayMove(_ blob: UInt64) -> Bool {
        guard blobsToMove.remove(blob) != nil else { return false }
        course.countMoved(blobs: 1)
        return true
    }

    // MARK: New objects

    func insert<New: PersistentModel>(_ new: New) throws {
        wroteAnything = true
        try target.insertChecked(new)
        if !isIdentityTaken, oldNames[New._$modelType.entityName] == oldEntity {
            isIdentityTaken = true
            target.choose(oldNumber, for: new)
        }
    }

    func upsert<New: PersistentModel>(_ new: New) throws -> New {
        wroteAnything = true
        guard let keys = try target.uniqueKeys(of: new), !keys.isEmpty else {
            throw MigrationError(
                .stageFailed,
                "output.upsert was given a \(New.self), which has no unique attribute with a value to find it by. Mark one @Attribute(.unique), or use output.insert.",
                entity: New._$modelType.entityName)
        }
        try enterInserted(except: new)
        for key in keys {
            if let found = pendingKeys[PendingKey(index: key.index, bytes: key.bytes)] as? New {
                uncounted.found.append(New._$modelType.entityName)
                target.overwrite(found, with: new)
                return found
            }
        }
        if let number = try target.holder(of: keys) {
            let found = try target.existing(number, as: New.self)
            uncounted.found.append(New._$modelType.entityName)
            target.overwrite(found, with: new)
            for key in keys { pendingKeys[PendingKey(index: key.index, bytes: key.bytes)] = found }
            return found
        }
        try insert(new)
        for key in keys { pendingKeys[PendingKey(index: key.index, bytes: key.bytes)] = new }
        return new
    }

    /// Enters the keys of objects that the batch got by `insert`, so that `upsert` finds them before they are saved.
    ///
    /// Each is entered once a batch, and only if `upsert` is used.
    private func enterInserted<New: PersistentModel>(except new: New) throws {
        let known = keyedCounts[ObjectIdentifier(New.self)] ?? 0
        for object in target.inserted(New.self, from: known) where object !== new {
            for key in try target.uniqueKeys(of: object) ?? [] {
                let pending = PendingKey(index: key.index, bytes: key.bytes)
                if pendingKeys[pending] == nil { pendingKeys[pending] = object }
            }
        }
        keyedCounts[ObjectIdentifier(New.self)] = target.insertedCount
    }

    func object<New: PersistentModel>(migratedFrom old: any PersistentModel, as type: New.Type) throws -> New? {
        let identifier = old.persistentModelID
        guard identifier.entityName == oldNames[New._$modelType.entityName] else {
            throw MigrationError(
                .stageFailed,
                "output.object(migratedFrom:) was asked for a \(New.self) in the place of a \(identifier.entityName). Only objects of the same entity, or of the one that it is renamed from, keep their identity.",
                entity: New._$modelType.entityName)
        }
        return try target.existing(identifier.number, as: New.self)
    }
}
