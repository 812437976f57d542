import FaultlineLog
import FaultlineRepair
import FaultlineTestSupport

// Comparisons of the store with the model.

extension ModelLife {
    /// Compares all rows, keys, index entries and blobs.
    func compare(_ snapshot: Snapshot, _ state: ModelState, _ when: String) throws {
        for table in state.tableNumbers {
            let expected = Array(state[table].entries)
            guard snapshot.recordCount(of: TableID(rawValue: table)) == expected.count else {
                let count = snapshot.recordCount(of: TableID(rawValue: table))
                throw ModelViolation("\(when), table \(table) has \(count) objects, expected \(expected.count)")
            }
            var found: [(id: RecordID, value: ModelRow)] = []
            try snapshot.scan(TableID(rawValue: table), from: 0, through: .max, readAhead: 1 << 16) { views in
                for view in views { found.append((view.id, ModelRow(bytes: Array(view.row)))) }
                return true
            }
            try expectRows(found, expected, "\(when), a scan of table \(table)")
            for index in ModelTableKind.indexes(of: table) {
                let found = try self.entries(of: index, snapshot)
                try expectEntries(found, state.entries(of: index), "\(when), a scan of index \(index.id.rawValue)")
            }
            guard ModelTableKind(of: table).hasUnique else { continue }
            for (key, id) in state.entries(of: ModelTableKind.unique(of: table)) {
                guard try holder(of: Array(key), in: table, of: snapshot) == id else {
                    throw ModelViolation("\(when), a key of object \(id) of table \(table) is not found")
                }
            }
        }
        for table in 20..<max(20, state.nextTable) where state.tables[table] == nil {
            guard snapshot.recordCount(of: TableID(rawValue: table)) == 0 else {
                throw ModelViolation("\(when), table \(table), which was dropped, has objects")
            }
        }
        try compareBlobs(snapshot, state, when)
    }

    private func compareBlobs(_ snapshot: Snapshot, _ state: ModelState, _ when: String) throws {
        guard snapshot.recordCount(of: .blobs) == state.blobs.count else {
            throw ModelViolation(
                "\(when), there are \(snapshot.recordCount(of: .blobs)) blobs, expected \(state.blobs.count)")
        }
        for (id, bytes) in state.blobs.entries {
            guard try snapshot.blobByteCount(id) == UInt64(bytes.count) else {
                throw ModelViolation("\(when), blob \(id) has another size")
            }
            guard try self.bytes(0..<bytes.count, ofBlob: id, in: snapshot) == bytes else {
                throw ModelViolation("\(when), blob \(id) has other bytes")
            }
        }
    }

    /// Returns the first difference, if any.
    func difference(_ snapshot: Snapshot, _ state: ModelState) throws -> ModelViolation? {
        do {
            try compare(snapshot, state, "there")
        } catch let violation as ModelViolation {
            return violation
        }
        return nil
    }

    /// Compares a few rows and counts, after each transaction.
    func glance() throws {
        let snapshot = log.snapshot()
        for table in state.tableNumbers {
            let count = snapshot.recordCount(of: TableID(rawValue: table))
            guard count == state[table].count else {
                throw ModelViolation("table \(table) has \(count) objects, expected \(state[table].count)")
            }
            guard let last = state[table].ids.last else { continue }
            guard try row(last, in: table, of: snapshot) == state[table][last]?.bytes else {
                throw ModelViolation("object \(last) of table \(table) is another version")
            }
        }
    }

    func verify(_ when: String) throws {
        var findings: [Finding] = []
        try log.verify({ findings.append($0) }, progress: { _, _ in })
        if let first = findings.first {
            throw ModelViolation("\(when), verification finds: \(first) (\(findings.count) in all)")
        }
    }
}
