internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineObjects
internal import FaultlineStore

/// Runs one streamed stage: reads the old objects of each entity in the order of creation, hands them to its closure,
/// saves what that writes in batches.
struct StageRunner {
    private let log: Log
    private let source: StoredCatalog
    private let target: StoredCatalog
    private let entities: [StreamedEntity]
    private let record: MigrationRecord
    private let fromTypes: [ModelType]
    private let toTypes: [ModelType]
    private let options: MigrationOptions
    private let course: MigrationCourse

    private(set) var leftBehindCount: Int

    init(
        log: Log, source: StoredCatalog, target: StoredCatalog, entities: [StreamedEntity], record: MigrationRecord,
        fromTypes: [ModelType], toTypes: [ModelType], options: MigrationOptions, course: MigrationCourse
    ) {
        self.log = log
        self.source = source
        self.target = target
        self.entities = entities
        self.record = record
        self.fromTypes = fromTypes
        self.toTypes = toTypes
        self.options = options
        self.course = course
        leftBehindCount = record.leftBehindCount
    }

    mutating func run() throws {
        let sourceStore = try RowStore(log: log, catalog: source, types: fromTypes)
        let targetStore = try RowStore(log: log, catalog: target, types: toTypes, isMigrationTarget: true)
        let session = StageSession(firstOwnBlob: record.firstBlob, isDryRun: course.findings != nil)
        let output = session.makeCore(targetStore, toTypes)
        // Two objects become one by output.upsert alone, never because nobody looked.
        output.refusesUpserts = true
        output.defersLeastCounts = true
        output.sharedTables = Set(source.map.tables).intersection(target.map.tables).mapToTables()
        let writer = StageWriter(
            target: output, record: record, course: course,
            oldNames: SchemaDifference(from: source.schema, to: target.schema).oldEntityNames,
            batchByteCount: options.stageBatchByteCount)
        let reader = session.makeCore(sourceStore, fromTypes, isReadOnly: true)
        course.watch(session.tallies)
        for (place, entity) in entities.enumerated() where place >= record.entity {
            do {
                try run(
                    entity, place, reader, MigrationOutput(writer), writer, session,
                    startingAfter: place == record.entity ? record.lastDone : 0)
                if place + 1 < entities.count { try writer.moveOn(toEntity: place + 1) }
            } catch let error as MigrationError {
                // What is done stays done; a batch that cannot be saved is done again, and says why then.
                if error.code == .cancelled { try? writer.flush() }
                throw error
            } catch {
                let object = writer.current.map { " at \(entity.entityName) \($0)" } ?? ""
                throw MigrationError(
                    .stageFailed,
                    "The streamed stage of \(entity.entityName) stopped\(object). The store is in its old state; the stage goes on from its last batch when the container is made again.",
                    stage: "\(source.schema.version) → \(target.schema.version)", entity: entity.entityName,
                    cause: session.cause(of: error))
            }
        }
        leftBehindCount = writer.leftBehindCount
        try checkRules(output)
    }

    /// In a dry run: looks for required objects that went without those that refer to them.
    private func checkRules(_ output: ContextCore) throws {
        guard let findings = course.findings, findings.sample == nil else { return }
        let oldNames = SchemaDifference(from: source.schema, to: target.schema).oldEntityNames
        let streamed = Set(entities.map(\.entityName))
        let check = RuleCheck(
            target: output, schema: target.schema,
            rewritten: Set(oldNames.filter { streamed.contains($0.value) }.keys), course: course)
        for broken in try check.run(limit: findings.room) { try findings.note(broken, stage: course.stageName) }
    }

    private func run(
        _ entity: StreamedEntity, _ place: Int, _ reader: ContextCore, _ output: MigrationOutput, _ writer: StageWriter,
        _ session: StageSession, startingAfter last: UInt64
    ) throws {
        var done = last == 0 ? 0 : record.entityDone
        let total = reader.storedCount(entity.type)
        try course.begin(.instances, of: entity.entityName, done: done, total: total)
        func convert(_ object: AnyObject, _ number: RecordID, _ blobs: [UInt64]) throws {
            writer.begin(entity: entity.entityName, number: number, blobs: blobs)
            do { try entity.body(object, output) } catch { throw session.cause(of: error) }
            // A value that could not be read was a stand-in, which must not become the new value.
            if let error = session.error { throw error }
            writer.end(entityPlace: place)
        }
        let recovery = BatchRecovery(
            convert: { try reader.forEachStored(entity.type, after: $0 - 1, through: $0, convert) },
            flush: { do { try writer.flush() } catch { throw session.cause(of: error) } },
            discard: {
                _ = session.takeError()
                writer.discard()
            },
            note: { try writer.noteFailure(of: $0, entity: entity.entityName, $1) })
        func recovering(_ body: () throws -> Void) throws {
            do { try body() } catch {
                let error = session.cause(of: error)
                guard course.goesOnBehindFailures, PreviewFindings.isOfObject(error) else { throw error }
                try recovery.run(writer.batch[...])
            }
        }
        let table = source.map.entity(named: entity.entityName)?.table ?? 0
        try reader.forEachStored(entity.type, after: last, while: { course.wantsMore }) { object, number, blobs in
            if !course.quarantine.contains(number, in: table) {
                try recovering {
                    try convert(object, number, blobs)
                    try writer.flushIfFull()
                }
            }
            done += 1
            try course.reach(done)
        }
        try recovering { try writer.flush() }
    }
}

extension Set<UInt16> {
    fileprivate func mapToTables() -> Set<TableID> { Set<TableID>(map { TableID(rawValue: $0) }) }
}
