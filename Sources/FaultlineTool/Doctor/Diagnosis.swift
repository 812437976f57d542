package import FaultlineCommands
import FaultlineLog
import FaultlineMigration
import FaultlineModel
import FaultlineRepair

/// The state of a store: its facts, and the findings that need a person.
package struct Diagnosis {
    /// The sizes from which on a fact is a finding.
    package struct Limits: Sendable {
        /// Dead bytes of segments, if they are more than the live ones too: as in the store's health.
        package var deadByteCount = UInt64(LogOptions().segmentByteCount)
        /// Free bytes of the file system: room for checkpoints.
        package var freeByteCount: UInt64 = 64 << 20
        /// A compaction copies at most this share of the live bytes at a time.
        package var freeShare = 8
        /// Records of each table that the check reads.
        package var sampleCount = 256

        package init() {}
    }

    let summary: StoreSummary
    /// Bytes of segments that the newest state needs; nil if they could not be counted.
    let liveByteCount: UInt64?
    /// The schema version that an unfinished migration leads to; nil if there is none.
    let migrationTarget: String?
    /// Objects that migrations have put into the quarantine.
    let quarantinedCount: Int
    let check: QuickCheck
    /// The findings: those about lost data first.
    package private(set) var findings: [DoctorFinding] = []

    /// Examines a store.
    ///
    /// - Parameters:
    ///   - path: Where it is.
    ///   - store: The store, open for reading.
    ///   - limits: The sizes from which on a fact is a finding.
    /// - Throws: If the disk does not answer.
    package init(_ path: String, _ store: OpenedStore, limits: Limits = Limits()) throws {
        summary = try StoreSummary(path, store, isQuick: true)
        let unfinished = UnfinishedMigration(store.catalog)
        migrationTarget = unfinished.map { "\($0.target.version)" }
        var found: [StoreFinding] = []
        check = try store.log.verifyQuickly(sampleCount: limits.sampleCount) { found.append(StoreFinding($0)) }
        do {
            liveByteCount = try store.log.usage().liveByteCount
        } catch {
            guard error.isUnreadable else { throw error }
            liveByteCount = nil
            found.append(StoreFinding(error))
        }
        quarantinedCount = try Self.countQuarantined(store.log, &found)
        for finding in found.map({ DoctorFinding($0, of: path) }) where !findings.contains(finding) {
            findings.append(finding)
        }
        addLoss()
        addMigration(unfinished)
        addQuarantine()
        addSpace(limits)
    }

    /// The objects in the quarantine that can be read.
    private static func countQuarantined(_ log: Log, _ found: inout [StoreFinding]) throws -> Int {
        var count = 0
        do {
            try Quarantine(log).enumerate { _ in count += 1 }
        } catch {
            found.append(StoreFinding(.damage, CommandFailure.sentence(for: error), object: nil))
        }
        return count
    }

    private var quoted: String { ShellWord.quoted(summary.store) }

    private mutating func add(_ code: DoctorFinding.Code, _ message: String, _ remedy: String) {
        findings.append(DoctorFinding(code: code, message: message, remedy: remedy))
    }

    /// Saves that no synchronization had covered.
    private mutating func addLoss() {
        guard let tail = summary.opening.lostTail else { return }
        findings.append(
            DoctorFinding(
                code: .lostSaves,
                message:
                    "At least \(Quantity.count(Int(clamping: tail.count))) saves behind transaction \(tail.found) are missing, which no synchronization had covered.",
                path: tail.path, offset: tail.offset,
                remedy:
                    "With the durability `async` that is normal after a power cut. Drop identifiers of the lost objects: docs/Operations.md, \"Identifiers of lost objects\"."
            ))
    }

    private mutating func addMigration(_ unfinished: UnfinishedMigration?) {
        // Beside a writer it is under way.
        guard let unfinished, summary.writer == nil else { return }
        add(
            .migration,
            "A migration from version \(summary.schemaVersion) to \(unfinished.target.version) was stopped; the store is in its old state.",
            unfinished.isWithoutCode
                ? "`faultline migrate \(quoted) --resume` continues it."
                : "Open the store with the program, or the mapping file, that began it: that continues it. Opening it under the old schema discards it."
        )
    }

    private mutating func addQuarantine() {
        if quarantinedCount > 0 {
            let objects = quarantinedCount == 1 ? "1 object is" : "\(Quantity.count(quarantinedCount)) objects are"
            add(
                .quarantinedObjects, "\(objects) in the quarantine: migrations could not convert them.",
                "`faultline quarantine \(quoted)` lists them with the reasons.")
        }
        let count = summary.usage.quarantinedFileCount
        if count > 0 {
            let bytes = Quantity.bytes(Int(clamping: summary.usage.quarantinedByteCount))
            add(
                .quarantinedFiles,
                "\(count == 1 ? "1 file" : "\(Quantity.count(count)) files") of \(bytes) \(count == 1 ? "is" : "are") in quarantine/: recovery did not know the content.",
                "`faultline verify \(quoted)`: if it finds nothing, the store does not need them. Move them away, and keep them until the cause is known."
            )
        }
    }

    private mutating func addSpace(_ limits: Limits) {
        let segmentByteCount = summary.usage.segments.reduce(0) { $0 + $1.byteCount }
        let live = liveByteCount ?? segmentByteCount
        let needed = live + (summary.kept?.heldByteCount ?? 0)
        let dead = segmentByteCount - min(needed, segmentByteCount)
        let bytes = { (count: UInt64) in Quantity.bytes(Int(clamping: count)) }
        if dead > max(live, limits.deadByteCount) {
            add(
                .deadSpace, "\(bytes(dead)) of \(bytes(segmentByteCount)) of segments are dead.",
                summary.writer == nil
                    ? "`faultline compact \(quoted)` frees them."
                    : "The process that has the store open compacts by itself, unless a pin or an old snapshot holds them: look at its metric `faultline_pinned_bytes`."
            )
        }
        guard let free = summary.freeByteCount else { return }
        if free < max(limits.freeByteCount, live / UInt64(max(limits.freeShare, 1))) {
            let kept =
                summary.kept.map {
                    " The grace period of the newest migration holds \(bytes($0.heldByteCount)): `ModelContainer.endGracePeriod()` frees them."
                } ?? ""
            add(
                .diskSpace, "\(bytes(free)) are free on the file system: too little for a compaction.",
                "Make room there, or move the store while no process has it open. Remove no file of the store by hand.\(kept)"
            )
        }
    }
}
