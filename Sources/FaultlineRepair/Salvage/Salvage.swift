package import FaultlineDisk
package import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

/// Writes a new store with all data of a damaged one that still verifies.
///
/// Takes the newest version of each object that verifies, and reports objects that are lost or not in their newest
/// version. The damaged store is only read.
package struct Salvage {
    /// The present step of a salvage.
    package enum Step: Sendable {
        /// Reading segments; counted in bytes.
        case reading
        /// Writing the new store; counted in objects, of an unknown number.
        case writing
        /// Building indexes; not counted.
        case indexing
    }

    private let destination: String
    private let disk: Disk
    private let clock: Clock
    private let options: LogOptions
    private let deriver: any IndexDeriver

    /// The path of the new store until it is complete.
    private var unfinished: String { destination + ".unfinished" }

    /// Prepares a salvage.
    ///
    /// - Parameters:
    ///   - destination: The path of the new store: it does not exist, or is an empty directory.
    ///   - disk: The disk of both stores.
    ///   - clock: The clock of the new store.
    ///   - options: Sizes of the new store; its memory budget is also the salvage's.
    ///   - deriver: Derives the new store's index entries.
    package init(
        to destination: String, on disk: Disk, clock: Clock, options: LogOptions, deriver: any IndexDeriver
    ) {
        var path = destination
        while path.count > 1, path.last == "/" { path.removeLast() }
        self.destination = path
        self.disk = disk
        self.clock = clock
        self.options = options
        self.deriver = deriver
    }

    /// Checks that a store can be created at the destination.
    ///
    /// - Throws: `.notAStore` if something exists there already, or it lies inside the damaged store; disk errors.
    package func checkDestination(outside source: String) throws(LogError) {
        let names = try onDisk("looking at the destination") { () throws(DiskError) in
            try disk.isPresent(destination) ? try disk.names(in: destination) : []
        }
        guard names.isEmpty else {
            throw LogError(
                .notAStore, "The destination is not empty. Name a directory that does not exist yet.",
                path: destination)
        }
        let isLeft = try onDisk("looking at the destination") { () throws(DiskError) in try disk.isPresent(unfinished) }
        guard !isLeft else {
            throw LogError(
                .notAStore, "A salvage to this destination did not end. Remove its files, or name another destination.",
                path: unfinished)
        }
        let store = try onDisk("looking at the store") { () throws(DiskError) in try disk.identity(of: source) }
        var folder = DirectoryPath.parent(of: destination)
        var last: FileIdentity?
        while let identity = try? disk.identity(of: folder), identity != last {
            guard identity != store else {
                throw LogError(
                    .notAStore, "The destination lies inside the store, which salvage does not write to.",
                    path: destination)
            }
            last = identity
            folder += "/.."
        }
    }

    /// Creates the new store.
    ///
    /// Durability: the new store appears under its name when it is complete and durable. An interrupted salvage leaves
    /// a directory with `.unfinished` behind its name.
    ///
    /// - Parameters:
    ///   - source: The damaged store.
    ///   - finding: Called for each lost or doubtful object or range.
    ///   - progress: Called with the progress of each step, and its total; 0 if that is not known.
    /// - Returns: The sums.
    /// - Throws: Disk errors of the new store; `.lockedByAnother` if another process wrote to the damaged one in the
    ///   meantime.
    package func run(
        _ source: borrowing SalvageSource, finding: @escaping (SalvageFinding) -> Void,
        progress: (_ step: Step, _ done: UInt64, _ total: UInt64) -> Void
    ) throws(LogError) -> SalvageReport {
        var report = SalvageReport()
        for remark in source.remarks { finding(.remark(remark)) }
        try copy(source, &report, finding, progress)
        progress(.indexing, 0, 0)
        try index(&report)
        try source.refuseWriter()
        try onDisk("naming the new store") { () throws(DiskError) in
            try disk.rename(unfinished, to: destination)
            try disk.synchronizeDirectory(DirectoryPath.parent(of: destination), site: "salvage.directory")
        }
        return report
    }

    /// Writes the objects, without indexes.
    private func copy(
        _ source: borrowing SalvageSource, _ report: inout SalvageReport,
        _ finding: @escaping (SalvageFinding) -> Void, _ progress: (Step, UInt64, UInt64) -> Void
    ) throws(LogError) {
        var options = options
        options.access = .writing
        options.maintenance = .inline
        // The new store has no past.
        options.retention = nil
        let log = try Log.open(unfinished, on: disk, clock: clock, options: options, deriver: NoIndexes())
        do throws(LogError) {
            try fill(log, source, &report, finding, progress)
        } catch {
            // The first error is the one to report.
            try? log.close()
            throw error
        }
        log.directory.removeUnneededFiles()
        try log.close()
    }

    private func fill(
        _ log: Log, _ source: borrowing SalvageSource, _ report: inout SalvageReport,
        _ finding: @escaping (SalvageFinding) -> Void, _ progress: (Step, UInt64, UInt64) -> Void
    ) throws(LogError) {
        let losses = Losses(finding)
        for range in source.lost { losses.add(range) }
        let dropped = source.droppedSegments
        var replay = SalvageReplay(
            VersionTables(cache: log.cache, directory: log.directory), newestSequence: source.facts.newestSequence,
            watch: SalvageWatch(options), isDropped: dropped, report: losses.add)
        let total = source.segments.reduce(UInt64(0)) { $0 + $1.limit }
        var before: UInt64 = 0
        var peak = 0
        for segment in source.segments {
            try replay.read(segment) { done in
                peak = max(peak, log.budget.used)
                progress(.reading, before + done, total)
            }
            before += segment.limit
        }
        replay.finish()
        report.lostRangeCount = losses.count
        report.lostByteCount = losses.byteCount
        report.unfinishedRecordCount = replay.unfinishedRecordCount
        report.tornByteCount = replay.tornByteCount
        report.lostTransactions = source.expected(replay).flatMap {
            replay.whole.missing(from: $0.lowerBound, through: $0.upperBound)
        }

        var versions = replay.versions
        let nextIDs = source.nextIDs(above: versions, lost: report)
        var writer = SalvageWriter(source.files, to: log, nextIDs: nextIDs, report: report, finding: finding)
        try writer.write(&versions) { done in
            peak = max(peak, log.budget.used)
            progress(.writing, UInt64(done), 0)
        }
        report = writer.report
        report.peakByteCount = peak
    }

    /// Opens the new store like a store whose derived files are lost: tables and indexes are rebuilt from the records,
    /// which reads and verifies each record again.
    private func index(_ report: inout SalvageReport) throws(LogError) {
        var options = options
        options.access = .writing
        options.maintenance = .inline
        options.ignoresDerivedFiles = true
        do throws(LogError) {
            let log = try Log.open(unfinished, on: disk, clock: clock, options: options, deriver: deriver)
            if log.hasSecondaryIndexes { try log.noteSecondaryIndexes() }
            if log.hasTextIndexes { try log.noteTextIndexes() }
            if (try? StoredCatalog.read(log.snapshot()))?.schema.hasHeirs == true { try log.noteSubclasses() }
            try log.close()
        } catch {
            // Fresh bytes are not damaged: the deriver does not understand the catalog.
            guard error.code == .damaged, error.path == nil else { throw error }
            report.isCatalogReadable = false
        }
    }
}

/// Adds up the losses.
private final class Losses {
    private let finding: (SalvageFinding) -> Void
    private(set) var count = 0
    private(set) var byteCount: UInt64 = 0

    init(_ finding: @escaping (SalvageFinding) -> Void) {
        self.finding = finding
    }

    func add(_ range: LostRange) {
        count += 1
        let (sum, isTooLarge) = byteCount.addingReportingOverflow(range.byteCount)
        byteCount = isTooLarge ? .max : sum
        finding(.lostRange(range))
    }
}
