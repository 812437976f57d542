import CrashSimulation
import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport

/// What came of one damage.
package enum RotOutcome: Equatable, Sendable {
    /// The store was refused, a read was refused, or the opening or `verify` reports it.
    case detected
    /// Everything reads right, and all damaged bytes are on the list of those that mean nothing.
    case harmless(HarmlessBytes)
    /// Something reads wrong, or damage of bytes that mean something went unseen.
    case wrong(String)
}

extension RotStore {
    /// Damages the store, opens it, reads everything back; nil where the damage changes no byte.
    package func outcome(of damage: RotDamage) -> RotOutcome? {
        let disk = self.disk.afterProcessDeath()
        let damaged = damage.apply(to: disk)
        return damaged.isEmpty ? nil : outcome(on: disk, damage.path, damaged)
    }

    private func outcome(on disk: SimulatedDisk, _ path: String, _ damaged: [Int]) -> RotOutcome {
        let log: Log
        do {
            log = try Log.open(Self.path, on: disk, clock: Clock { 2_000 }, options: options, deriver: CrashDeriver())
        } catch {
            return error.path == nil ? .wrong("the error names no file: \(error)") : .detected
        }
        defer { log.abandonForTests() }
        do {
            if let difference = try difference(of: log.snapshot(), path, damaged) { return .wrong(difference) }
            let report = log.openReport
            if !report.ignoredDerivedFiles.isEmpty || !report.quarantinedFiles.isEmpty || report.wasClean != isClosed {
                return .detected
            }
            var findings = 0
            try log.verify({ _ in findings += 1 }, progress: { _, _ in })
            if findings > 0 { return .detected }
        } catch let error as LogError where error.code == .damaged {
            return error.path == nil ? .wrong("the error names no file: \(error)") : .detected
        } catch {
            return .wrong("\(error)")
        }
        return harmlessBytes(path, damaged, log, disk).map { .harmless($0) } ?? .wrong("nobody noticed")
    }

    /// The entry of the list that all damaged places are on.
    private func harmlessBytes(
        _ path: String, _ damaged: [Int], _ log: Log, _ disk: SimulatedDisk
    ) -> HarmlessBytes? {
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        if name == FileName.lock { return .lockText }
        let gap = FileHeader.byteCount..<TablePage.byteCount
        if name.hasPrefix("t-"), damaged.allSatisfy(gap.contains) { return .checkpointGap }
        if let frame = frames[newest], path == frame.path, damaged.allSatisfy({ $0 >= frame.bytes.upperBound }) {
            return .preparedSpace
        }
        // Whatever was found, `difference` has let it pass.
        guard let lost = frames[log.snapshot().sequence + 1], let bytes = disk.bytes(of: path) else { return nil }
        // Zeros cannot be told from those that were prepared.
        let isZeroed = bytes[lost.bytes.lowerBound...].allSatisfy { $0 == 0 }
        return log.openReport.discardedByteCount > 0 || isZeroed ? .newestFrame : nil
    }

    /// What reads otherwise than it was written.
    private func difference(of snapshot: Snapshot, _ path: String, _ damaged: [Int]) throws -> String? {
        guard snapshot.sequence <= newest else { return "transaction \(snapshot.sequence) was never written" }
        // Lost may be what has no whole frame behind it, and only that.
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
            if let (_, key) = CrashDeriver.entry(of: table, id: id, row: row) { expected[key] = id }
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
