import CrashSimulation
import FaultlineDisk
import FaultlineLog
import FaultlineRepair
import FaultlineTestSupport

/// The outcome of one damage.
package enum RotOutcome: Equatable, Sendable {
    /// A read was refused, or `verify` has a finding.
    case detected
    /// All reads are correct, and all damaged bytes are in the list of harmless ones.
    case harmless(HarmlessBytes)
    /// A read is wrong, or damage of other bytes was not detected.
    case wrong(String)
}

extension RotStore {
    /// Damages the store, opens it and reads everything, and then opens it for reading, like the tool, and verifies it.
    ///
    /// - Parameters:
    ///   - damage: The damage to do.
    ///   - canary: A deliberate error to make.
    /// - Returns: The outcome, or `nil` if the damage changes no byte.
    package func outcome(of damage: RotDamage, canary: RotCanary? = nil) -> RotOutcome? {
        let disk = self.disk.afterProcessDeath()
        let damaged = damage.apply(to: disk)
        if damaged.isEmpty { return nil }
        canary?.repair(damage.path, on: disk)
        canary?.die(of: damage.path)
        let reader = disk.afterProcessDeath()
        let written = outcome(for: .writing, on: disk, damage.path, damaged, canary)
        if case .wrong = written { return written }
        // Opening for writing may have replaced damaged files, which only the open report shows.
        let outcome = outcome(for: .reading, on: reader, damage.path, damaged, canary)
        guard case .wrong(let what) = outcome else { return outcome }
        return .wrong("open for reading: \(what)")
    }

    private func outcome(
        for access: LogAccess, on disk: SimulatedDisk, _ path: String, _ damaged: [Int], _ canary: RotCanary?
    ) -> RotOutcome {
        var options = options
        options.access = access
        let log: Log
        do {
            log = try Log.open(Self.path, on: disk, clock: Clock { 2_000 }, options: options, deriver: CrashDeriver())
        } catch {
            return error.path == nil ? .wrong("the error names no file: \(error)") : .detected
        }
        defer { log.abandonForTests() }
        do {
            let refusal = try refusal(of: log.snapshot(), path, damaged)
            // Verification must also report damage that was already detected elsewhere.
            var findings: [Finding] = []
            try log.verify({ findings.append($0) }, progress: { _, _ in })
            if let finding = findings.first, canary != .hidesFindings {
                return finding.path == nil && finding.kind == .damage
                    ? .wrong("the finding names no file: \(finding)") : .detected
            }
            if let refusal { return .wrong("verify finds nothing, and a read is refused: \(refusal)") }
            if access == .writing, isTold(log.openReport) { return .detected }
        } catch {
            return .wrong("\(error)")
        }
        return harmlessBytes(path, damaged, log, access, disk).map { .harmless($0) } ?? .wrong("unnoticed damage")
    }

    /// Whether the open report shows damage.
    private func isTold(_ report: OpenReport) -> Bool {
        !report.ignoredDerivedFiles.isEmpty || !report.quarantinedFiles.isEmpty || report.wasClean != isClosed
    }

    /// Reads everything.
    ///
    /// - Returns: The error that refused a read, or `nil` if all reads are correct.
    /// - Throws: `CrashViolation` for a wrong result, or for an error without a file.
    private func refusal(of snapshot: Snapshot, _ path: String, _ damaged: [Int]) throws -> LogError? {
        do {
            if let difference = try difference(of: snapshot, path, damaged) { throw CrashViolation(difference) }
            return nil
        } catch let error as LogError where error.code == .damaged {
            if error.path == nil { throw CrashViolation("the error names no file: \(error)") }
            return error
        }
    }

    /// Returns the entry of the list that contains all damaged bytes.
    private func harmlessBytes(
        _ path: String, _ damaged: [Int], _ log: Log, _ access: LogAccess, _ disk: SimulatedDisk
    ) -> HarmlessBytes? {
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        if name == FileName.lock { return .lockText }
        let gap = FileHeader.byteCount..<TablePage.byteCount
        if name.hasPrefix("t-"), damaged.allSatisfy(gap.contains) { return .checkpointGap }
        if let frame = frames[newest], path == frame.path, damaged.allSatisfy({ $0 >= frame.bytes.upperBound }) {
            return .preparedSpace
        }
        if path == lastEdit.path, damaged.allSatisfy(lastEdit.bytes.contains) { return .closingEdit }
        // `difference` has already checked the remaining contents.
        guard let lost = frames[log.snapshot().sequence + 1], let bytes = disk.bytes(of: path) else { return nil }
        // Zeros look the same as prepared space, and opening for reading does not count discarded bytes.
        let isZeroed = bytes[lost.bytes.lowerBound...].allSatisfy { $0 == 0 }
        return log.openReport.discardedByteCount > 0 || isZeroed || access == .reading ? .newestFrame : nil
    }

    /// Returns the first wrong result.
    private func difference(of snapshot: Snapshot, _ path: String, _ damaged: [Int]) throws -> String? {
        guard snapshot.sequence <= newest else { return "transaction \(snapshot.sequence) was never written" }
        // Only a frame without an intact frame after it may be lost.
        for lost in snapshot.sequence..<newest {
            guard let frame = frames[lost + 1], frame.path == path, damaged.contains(where: frame.bytes.contains) else {
                return "transaction \(snapshot.sequence) is the newest, \(newest) was acknowledged"
            }
        }
        let state = states[Int(snapshot.sequence)]
        if let difference = try CrashCheck.difference(snapshot, state) { return difference }
        for table in CrashDeriver.tables {
            if let difference = try entryDifference(of: table, snapshot, state) { return difference }
        }
        return nil
    }

    private func entryDifference(of table: TableID, _ snapshot: Snapshot, _ state: CrashModel) throws -> String? {
        var expected: [[UInt8]: RecordID] = [:]
        for (id, row) in state.rows[table] ?? [:] {
            for (_, key) in CrashDeriver.entries(of: table, id: id, row: row) { expected[key] = id }
        }
        let index = table.rawValue == 16 ? CrashDeriver.unique : CrashDeriver.group
        var found: [[UInt8]: RecordID] = [:]
        try snapshot.forEachEntry(in: index, prefix: UnsafeRawBufferPointer(start: nil, count: 0)) { key, id in
            found[Array(key)] = id
            return true
        }
        guard found == expected else { return "the index of table \(table.rawValue) has other entries" }
        guard table.rawValue == 16 else { return nil }
        for (key, id) in expected {
            guard try key.withUnsafeBytes({ try snapshot.firstID(in: index, key: $0) }) == id else {
                return "a key of object \(id) leads elsewhere"
            }
        }
        return nil
    }
}
