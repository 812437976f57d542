import CrashSimulation
import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport

/// What came of one flipped bit.
package enum RotOutcome: Equatable, Sendable {
    /// The store was refused, a read was refused, or the opening or `verify` reports it.
    case detected
    /// Everything reads right, and the bit is on the list of those that mean nothing.
    case harmless
    /// Something reads wrong, or a bit that means something went unseen.
    case wrong(String)
}

extension RotStore {
    /// Flips one bit, opens the store, reads everything back.
    package func outcome(ofFlipping number: Int) -> RotOutcome {
        let (file, bit) = place(of: number)
        let disk = self.disk.afterProcessDeath()
        guard disk.flip(bit: bit, of: file) else { return .wrong("\(file) has no bit \(bit)") }
        let log: Log
        do {
            log = try Log.open(Self.path, on: disk, clock: Clock { 2_000 }, options: options, deriver: CrashDeriver())
        } catch {
            return error.path == nil ? .wrong("\(file), bit \(bit): the error names no file: \(error)") : .detected
        }
        defer { log.abandonForTests() }
        do {
            if let fault = try fault(of: log) { return .wrong("\(file), bit \(bit): \(fault)") }
            let report = log.openReport
            if !report.ignoredDerivedFiles.isEmpty || !report.quarantinedFiles.isEmpty || report.wasClean != isClosed {
                return .detected
            }
            var findings = 0
            try log.verify({ _ in findings += 1 }, progress: { _, _ in })
            if findings > 0 { return .detected }
        } catch let error as LogError where error.code == .damaged {
            return .detected
        } catch {
            return .wrong("\(file), bit \(bit): \(error)")
        }
        if log.snapshot().sequence < UInt64(states.count - 1) { return .harmless }
        return isMeaningless(file, bit / 8) ? .harmless : .wrong("\(file), bit \(bit): nobody noticed")
    }

    /// The list of bytes that mean nothing.
    private func isMeaningless(_ file: String, _ offset: Int) -> Bool {
        let name = file.split(separator: "/").last.map(String.init) ?? ""
        // The lock's text is for people.
        if name == FileName.lock { return true }
        // Between a checkpoint's header and its first page.
        return name.hasPrefix("t-") && offset >= FileHeader.byteCount && offset < TablePage.byteCount
    }

    private func fault(of log: Log) throws -> String? {
        let snapshot = log.snapshot()
        guard snapshot.sequence >= oldestFound, snapshot.sequence < UInt64(states.count) else {
            return "transaction \(snapshot.sequence) is the newest, \(states.count - 1) was acknowledged"
        }
        let state = states[Int(snapshot.sequence)]
        if let difference = try CrashCheck.difference(snapshot, state) { return difference }
        for table in CrashDeriver.tables {
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
            guard table.rawValue == 16 else { continue }
            for (key, id) in expected {
                guard try key.withUnsafeBytes({ try snapshot.firstID(in: index, key: $0) }) == id else {
                    return "a key of object \(id) leads elsewhere"
                }
            }
        }
        return nil
    }
}
