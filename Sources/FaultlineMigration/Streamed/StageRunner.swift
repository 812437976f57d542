internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineObjects
internal import FaultlineStore

/// Runs one streamed stage: reads the old objects of each entity in the order of creation, passes them to its closure,
/// and saves the new objects in batches.
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
        let tallies = ReadTallies()
        let progress = StreamedProgress(record, course)
        let carried = CarriedPairs(from: source.schema, to: target.schema, streaming: entities)
        let isResumed = !course.carriedProperties.isEmpty
        course.carriedProperties = carried.known(isResumed ? course.carriedProperties : nil)
        let setup = StreamWorker.Setup(
            source: try RowStore(log: log, catalog: source, types: fromTypes),
            target: try RowStore(log: log, catalog: target, types: toTypes, isMigrationTarget: true),
            fromTypes: fromTypes, toTypes: toTypes,
            sharedTables: Set(source.map.tables).intersection(target.map.tables).mapToTables(),
            oldNames: SchemaDifference(from: source.schema, to: target.schema).oldEntityNames, carried: carried,
            stageName: "\(source.schema.version) → \(target.schema.version)", options: options, progress: progress,
            firstOwnBlob: record.firstStageBlob, isDryRun: course.findings != nil, tallies: tallies)
        let worker = StreamWorker(setup)
        course.watch(tallies)
        for (place, entity) in entities.enumerated() where place >= record.entity {
            try run(
                entity, place, worker, setup, startingAfter: place == record.entity ? record.lastDone : 0)
            if place + 1 < entities.count { try worker.writer.moveOn(toEntity: place + 1) }
        }
        if course.findings?.sample == nil { try worker.takeBackCarried() }
        leftBehindCount = progress.record.leftBehindCount
        try checkRules(worker.target)
    }

    /// Runs one entity: on this thread, and on others if there are enough objects.
    ///
    /// A failed object is retried individually, which needs one thread.
    private func run(
        _ entity: StreamedEntity, _ place: Int, _ worker: StreamWorker, _ setup: StreamWorker.Setup,
        startingAfter last: UInt64
    ) throws {
        let table = source.map.entity(named: entity.entityName)?.table ?? 0
        do {
            try course.begin(
                .instances, of: entity.entityName, done: last == 0 ? 0 : record.entityDone,
                total: worker.reader.storedCount(entity.type))
        } catch {
            // Saves the count of the resume.
            try? worker.writer.flush()
            throw error
        }
        let shares = StreamedShares(
            last + 1, through: try worker.reader.lastStoredNumber(entity.type),
            byteCount: options.stageBatchByteCount / 2, count: options.shareCount)
        let isAlone = entity.isInOrder || course.goesOnBehindFailures
        let workerCount = isAlone ? 1 : min(options.streamWorkerCount, shares.countAtFirst)
        let turn = MigrationTurns.shared.turn(of: log)
        let helpers = (1..<max(workerCount, 1)).map { _ in
            WorkerThread {
                turn.share { StreamWorker(setup).run(shares, entity, place, in: table) }
            }
        }
        worker.run(shares, entity, place, in: table)
        for helper in helpers { helper.join() }
        if let failure = shares.failure { throw failure }
    }

    /// In a dry run: searches for required objects that are missing although others refer to them.
    private func checkRules(_ output: StageContext) throws {
        guard let findings = course.findings, findings.sample == nil else { return }
        let oldNames = SchemaDifference(from: source.schema, to: target.schema).oldEntityNames
        let streamed = Set(entities.map(\.entityName))
        let check = RuleCheck(
            target: output, schema: target.schema,
            rewritten: Set(oldNames.filter { streamed.contains($0.value) }.keys), course: course)
        for broken in try check.run(limit: findings.room) { try findings.note(broken, stage: course.stageName) }
    }
}

extension Set<UInt16> {
    fileprivate func mapToTables() -> Set<TableID> { Set<TableID>(map { TableID(rawValue: $0) }) }
}
