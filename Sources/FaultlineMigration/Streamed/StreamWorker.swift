internal import FaultlineLog
internal import FaultlineObjects
internal import FaultlineStore

/// Converts shares of the old objects of one entity, one after the other, in contexts of its own.
///
/// It belongs to one thread. Before its turn it changes nothing but its contexts, and reads nothing that other workers
/// write; it reports its counts when the turn comes.
final class StreamWorker {
    /// The parameters of workers.
    struct Setup: Sendable {
        let source: RowStore
        let target: RowStore
        let fromTypes: [ModelType]
        let toTypes: [ModelType]
        /// Tables that the old state shares.
        let sharedTables: Set<TableID>
        let oldNames: [String: String]
        /// The properties that are carried over if closures do not set them.
        let carried: CarriedPairs
        /// The name of the stage in error messages.
        let stageName: String
        let options: MigrationOptions
        let progress: StreamedProgress
        let firstOwnBlob: UInt64
        let isDryRun: Bool
        let tallies: ReadTallies
    }

    /// Another worker has failed before.
    private struct Stopped: Error {}

    let reader: StageContext
    let target: StageContext
    let writer: StageWriter
    let carrying: CarryingOver
    private let output: MigrationOutput
    private let session: StageSession
    private let setup: Setup
    private var course: MigrationCourse { setup.progress.course }

    // The current share.
    private var share: StreamedShares.Share?
    private var hasTurn = false
    private var shares: StreamedShares?
    /// Old objects that are not reported yet.
    private var untoldCount = 0
    /// The number of objects in one progress report.
    private static let toldAtOnce = 1_000

    init(_ setup: Setup) {
        self.setup = setup
        session = StageSession(
            firstOwnBlob: setup.firstOwnBlob, isDryRun: setup.isDryRun, tallies: setup.tallies)
        reader = StageContext(session.makeCore(setup.source, setup.fromTypes, isReadOnly: true))
        target = StageContext(session.makeCore(setup.target, setup.toTypes))
        // Only `output.upsert` merges two objects; an ordinary save never does.
        target.core.rules.refusesUpserts = true
        target.core.rules.defersLeastCounts = true
        target.core.rules.sharedTables = setup.sharedTables
        carrying = CarryingOver(setup.carried, from: reader.core, to: target.core, setup.progress)
        writer = StageWriter(
            target: target, progress: setup.progress, oldNames: setup.oldNames, carrying: carrying,
            options: setup.options)
        output = MigrationOutput(writer)
        reader.core.rules.willHold = { [weak self] byteCount in self?.takeTurn(toHold: byteCount) }
    }

    /// Converts and saves shares until there are none, or a worker has failed.
    ///
    /// - Parameters:
    ///   - shares: The old objects.
    ///   - entity: Their entity.
    ///   - place: Its index in the stage.
    ///   - table: Its table.
    func run(_ shares: StreamedShares, _ entity: StreamedEntity, _ place: Int, in table: UInt16) {
        self.shares = shares
        while course.findings == nil || course.wantsMore, let share = shares.claim() {
            self.share = share
            do {
                let saved = writer.savedByteCount
                try convert(share, of: shares, entity, place, table)
                endTurn()
                shares.end(share, savedByteCount: writer.savedByteCount - saved)
            } catch {
                // If several fail, the first one counts.
                if !(error is Stopped), shares.waitForTurn(of: share) {
                    writer.settle()
                    shares.stop(explained(error, entity))
                }
                endTurn()
                return
            }
        }
    }

    /// When all objects are done, undoes values that were carried over before a closure set the property.
    ///
    /// - Throws: `StoreError` or `StorageError` if the store cannot be read or written; `cancelled`.
    func takeBackCarried() throws {
        do { try carrying.takeBack(by: writer, setup.options.control) } catch { throw session.cause(of: error) }
    }

    /// Ends the turn so that no other worker waits for it: also if the share had nothing to save, or code has kept an
    /// object of it.
    private func endTurn() {
        target.core.catchUp()
        hasTurn = false
        share = nil
    }

    private func convert(
        _ share: StreamedShares.Share, of shares: StreamedShares, _ entity: StreamedEntity, _ place: Int,
        _ table: UInt16
    ) throws {
        untoldCount = 0
        hasTurn = shares.isTurn(of: share)
        target.core.fallBehind { [unowned self] in hasTurn = shares.waitForTurn(of: share) }
        func convert(_ object: AnyObject, _ number: RecordID, _ blobs: [UInt64]) throws {
            writer.begin(entity: entity.entityName, number: number, blobs: blobs)
            do { try entity.body(object, output) } catch { throw session.cause(of: error) }
            // An unreadable value was replaced by a placeholder, which must not become the new value.
            if let error = session.error { throw error }
            try writer.carryOver(object)
            writer.end(entityPlace: place)
        }
        let recovery = BatchRecovery(
            convert: { [reader] in try reader.forEachStored(entity.type, after: $0 - 1, through: $0, convert) },
            flush: { [session, writer] in
                do { try writer.flush() } catch { throw session.cause(of: error) }
            },
            discard: { [session, writer] in
                _ = session.takeError()
                writer.discard()
            },
            note: { [writer] in try writer.noteFailure(of: $0, entity: entity.entityName, $1) })
        func recovering(_ body: () throws -> Void) throws {
            do { try body() } catch {
                let error = session.cause(of: error)
                guard course.goesOnBehindFailures, PreviewFindings.isOfObject(error) else { throw error }
                try recovery.run(writer.batch[...])
            }
        }
        do {
            try reader.forEachStored(
                entity.type, after: share.numbers.lowerBound - 1, through: share.numbers.upperBound,
                while: { course.findings == nil || course.wantsMore }
            ) { object, number, blobs in
                guard shares.goesOn else { throw Stopped() }
                if !course.quarantine.contains(number, in: table) {
                    try recovering {
                        try convert(object, number, blobs)
                        guard writer.isFull || hasTurn && writer.isDue else { return }
                        try takeTurn(shares)
                        try writer.flush()
                    }
                }
                untoldCount += 1
                if shares.isTurn(of: share) { hasTurn = true }
                if hasTurn { try tell() } else { try setup.options.control?.obey() }
            }
            try takeTurn(shares)
            try tell()
            if !writer.batch.isEmpty { try recovering { try writer.flush() } }
        } catch let error as MigrationError where error.code == .cancelled {
            // Saved batches stay; a batch that cannot be saved, or whose code was cancelled, is converted again.
            try takeTurn(shares)
            if writer.current == nil { try? writer.flush() }
            throw error
        }
    }

    /// Waits until all shares before this one are saved.
    private func takeTurn(_ shares: StreamedShares) throws {
        guard let share, shares.waitForTurn(of: share) else { throw Stopped() }
        hasTurn = true
    }

    /// Waits for the turn before a large value is read, so that only one worker holds some.
    private func takeTurn(toHold byteCount: Int) {
        guard let share, let shares, byteCount >= setup.options.stageBatchByteCount / StreamedShares.inFlightMax else {
            return
        }
        hasTurn = shares.waitForTurn(of: share)
    }

    /// Reports the counts since the last report.
    private func tell() throws {
        writer.settle()
        while untoldCount > 0 {
            let count = min(untoldCount, Self.toldAtOnce - course.done % Self.toldAtOnce)
            untoldCount -= count
            try course.advance(by: count)
        }
    }

    private func explained(_ error: any Error, _ entity: StreamedEntity) -> any Error {
        if let error = error as? MigrationError {
            return error.about(stage: setup.stageName, entity: entity.entityName, object: writer.current)
        }
        let cause = session.cause(of: error)
        let place = FailurePlace(of: cause)
        let isOfEntity = place.entity.map { setup.oldNames[$0] == entity.entityName } ?? false
        let object = writer.current.map { " at \(entity.entityName) \($0)" } ?? ""
        return MigrationError(
            .stageFailed,
            "The streamed stage of \(entity.entityName) stopped\(object). The store is in its old state; the stage goes on from its last batch when the container is made again. If the closure is corrected and the objects so far are wrong too, give the stage another `revision`: it begins again.",
            stage: setup.stageName, entity: entity.entityName, property: isOfEntity ? place.property : nil,
            object: writer.current, cause: cause)
    }
}
