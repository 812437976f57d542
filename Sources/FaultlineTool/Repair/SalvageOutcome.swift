import FaultlineCommands
import FaultlineLog
import FaultlineRepair

/// The result of a salvage, for people and for scripts.
struct SalvageOutcome {
    let report: SalvageReport
    /// Entities by their tables; empty where the catalog is lost.
    let names: [TableID: String]
    /// How many contradictions the new store has.
    let findingCount: Int
    /// References in the new store that lead to missing objects: lost now, or deleted long ago.
    let danglingCount: Int
    let destination: String
    let seconds: Double

    /// Whether anything is lost or changed.
    var hasLoss: Bool { report.hasLoss || findingCount > 0 }

    /// Tables that have objects or lost some, ascending; the engine's own tables are left out.
    private var tables: [TableID] {
        Set(report.recordCounts.keys).union(report.lostObjectCounts.keys)
            .filter { $0.rawValue >= TableID.firstEntity }.sorted()
    }

    private func name(_ table: TableID) -> String { names[table] ?? "table \(table.rawValue)" }

    private var objectCount: Int { tables.reduce(0) { $0 + (report.recordCounts[$1] ?? 0) } }
    private var oldCount: Int { report.possiblyOldCounts.values.reduce(0, +) }
    private var lostObjectCount: Int { report.lostObjectCounts.values.reduce(0, +) }

    /// Prints it.
    func print(asJSON: Bool) {
        if asJSON { Terminal.output.write(line.line + "\n") } else { printTable() }
    }

    private var line: JSONLine {
        var line = JSONLine()
        line.add("salvage", hasLoss ? "lost" : "ok")
        line.add("objects", objectCount)
        line.add("possibly_old", oldCount)
        line.add("blobs", report.recordCounts[.blobs] ?? 0)
        line.add("blob_bytes", Int(clamping: report.blobByteCount))
        line.add("lost_ranges", report.lostRangeCount)
        line.add("lost_bytes", Int(clamping: report.lostByteCount))
        line.add("lost_blobs", report.lostBlobCount)
        line.add("lost_objects", lostObjectCount)
        line.add("lost_transactions", Int(clamping: report.lostTransactionCount))
        line.add("unfinished", report.unfinishedRecordCount)
        line.add("torn_bytes", Int(clamping: report.tornByteCount))
        line.add("findings", findingCount)
        line.add("dangling", danglingCount)
        line.add("schema", report.isCatalogReadable && !names.isEmpty)
        line.add(
            "entities",
            tables.map { table in
                var entity = JSONLine()
                entity.add("name", name(table))
                entity.add("table", Int(table.rawValue))
                entity.add("objects", report.recordCounts[table] ?? 0)
                entity.add("possibly_old", report.possiblyOldCounts[table] ?? 0)
                entity.add("lost", report.lostObjectCounts[table] ?? 0)
                return entity
            }
        )
        line.add("seconds", seconds)
        return line
    }

    private func printTable() {
        var table = Table([
            ("entity", .left), ("table", .right), ("objects", .right), ("may be old", .right), ("lost", .right),
        ])
        for number in tables + [.blobs] {
            table.add([
                number == .blobs ? "(blobs)" : name(number), "\(number.rawValue)",
                Quantity.count(report.recordCounts[number] ?? 0),
                Quantity.count(report.possiblyOldCounts[number] ?? 0),
                Quantity.count(number == .blobs ? report.lostBlobCount : report.lostObjectCounts[number] ?? 0),
            ])
        }
        for note in notes { table.note(note) }
        table.print()
        Terminal.output.write(
            "\(destination): \(hasLoss ? "not all of it" : "nothing lost"); \(Quantity.count(objectCount)) objects, \(Quantity.seconds(seconds))\n"
        )
    }

    private var notes: [String] {
        var notes: [String] = []
        if report.lostRangeCount > 0 {
            notes.append(
                "\(Quantity.count(report.lostRangeCount)) places do not verify, \(Quantity.bytes(Int(clamping: report.lostByteCount)))"
            )
        }
        if let last = report.lostTransactions.last {
            notes.append(
                "\(Quantity.count(Int(clamping: report.lostTransactionCount))) transactions are not complete, the newest is \(last.upperBound): values written before it may be old"
            )
        }
        if report.unfinishedRecordCount > 0 || report.tornByteCount > 0 {
            notes.append(
                "left out as never committed: \(Quantity.count(report.unfinishedRecordCount)) records, \(Quantity.bytes(Int(clamping: report.tornByteCount))) of a torn tail"
            )
        }
        if !report.isCatalogReadable || names.isEmpty {
            notes.append(
                "the catalog is lost: objects are there by table and number, but nothing says what their values mean")
        }
        return notes
    }
}
