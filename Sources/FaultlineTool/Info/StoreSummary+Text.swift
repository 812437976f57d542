import FaultlineCommands
import FaultlineLog

extension StoreSummary {
    /// The summary for people.
    func text(isStyled: Bool) -> String {
        var lines = [
            store, "schema version \(schemaVersion), transaction \(Quantity.count(Int(clamping: sequence)))",
        ]
        lines += openingLines + [writerLine]
        if isMigrating {
            lines.append("a migration is under way: it goes on when the store is opened under the plan that began it")
        }
        if historyRecordCount > 0 {
            let bytes = isCounted ? ", \(Quantity.bytes(historyByteCount))" : ""
            lines.append("history of saves: \(Quantity.count(historyRecordCount)) records\(bytes)")
        }
        if let kept {
            let date = DateText.text(secondsSince1970: kept.untilNanoseconds / 1_000_000_000)
            lines.append(
                "can return to the state before its newest migration until \(date), which holds \(Quantity.bytes(Int(clamping: kept.heldByteCount))): `faultline rollback`"
            )
        }
        return lines.joined(separator: "\n") + "\n\n" + entityTable.text(isStyled: isStyled) + "\n"
            + fileTable.text(isStyled: isStyled)
    }

    private var openingLines: [String] {
        if writer != nil { return [] }
        var lines: [String] = []
        if opening.wasClean {
            lines.append("closed cleanly")
        } else {
            let bytes = Quantity.bytes(Int(clamping: opening.replayedByteCount))
            lines.append(
                "not closed cleanly: opening reads \(bytes) of log again, \(Quantity.count(opening.replayedTransactionCount)) transactions"
            )
        }
        for name in opening.ignoredDerivedFiles {
            lines.append("\(name) does not verify. \(LogError.derivedRemedy)")
        }
        return lines
    }

    private var writerLine: String {
        guard let writer else { return "not open for writing; no pins" }
        return
            "open for writing by \(WriterText.text(writer)); which snapshots it pins only that process knows: its health and its metrics tell"
    }

    private var entityTable: Table {
        var table = Table([
            ("entity", .left), ("objects", .right), ("rows", .right), ("blobs", .right), ("out of rows", .right),
            ("share", .right),
        ])
        let total = entities.reduce(engineByteCount) { $0 + $1.rowByteCount + $1.blobByteCount }
        for entity in entities.sorted(by: { Self.byteCount($0) > Self.byteCount($1) }) {
            table.add(
                [entity.name, Quantity.count(entity.objectCount)]
                    + (isCounted
                        ? [
                            Quantity.bytes(entity.rowByteCount), Quantity.count(entity.blobCount),
                            Quantity.bytes(entity.blobByteCount), Self.share(Self.byteCount(entity), of: total),
                        ] : []))
        }
        if isCounted {
            table.add(["(engine)", "", Quantity.bytes(engineByteCount), "", "", Self.share(engineByteCount, of: total)])
        }
        let unreadableCount = entities.reduce(0) { $0 + $1.unreadableCount }
        if unreadableCount > 0 {
            table.note("\(Quantity.count(unreadableCount)) objects cannot be read; run `faultline verify`")
        }
        if let damage { table.note("not counted: \(StoreFinding(damage)); run `faultline verify`") }
        return table
    }

    private static func byteCount(_ entity: EntitySpace) -> Int { entity.rowByteCount + entity.blobByteCount }

    private static func share(_ part: Int, of total: Int) -> String {
        Quantity.share(Double(part) / Double(max(total, 1)))
    }

    /// A sentence on files that the table does not count; nil if there are none.
    private static func note(_ count: Int, _ byteCount: UInt64, in folder: String, _ remark: String) -> String? {
        guard count > 0 else { return nil }
        let files = count == 1 ? "1 file" : "\(Quantity.count(count)) files"
        let bytes = Quantity.bytes(Int(clamping: byteCount))
        return "\(files) of \(bytes) \(count == 1 ? "is" : "are") in \(folder)/, not counted: \(remark)"
    }

    private var fileTable: Table {
        var table = Table([
            ("files", .left), ("count", .right), ("bytes", .right), ("live", .right), ("live share", .right),
        ])
        let bytes = { (count: UInt64) in Quantity.bytes(Int(clamping: count)) }
        for (name, kind) in [
            ("hot segments", FileKind.hotSegment), ("cold segments", .coldSegment), ("blob segments", .blobSegment),
        ] {
            let sum = segments(of: kind)
            guard sum.count > 0 else { continue }
            let share = Double(sum.liveByteCount) / Double(max(sum.byteCount, 1))
            table.add(
                [name, Quantity.count(sum.count), bytes(sum.byteCount)]
                    + (isCounted ? [bytes(sum.liveByteCount), Quantity.share(share)] : []))
        }
        let segmentByteCount = usage.segments.reduce(0) { $0 + $1.byteCount }
        table.add(
            ["all segments", Quantity.count(usage.segments.count), bytes(segmentByteCount)]
                + (isCounted ? [bytes(usage.liveByteCount), Quantity.share(usage.liveShare)] : []))
        table.add(["checkpoints", Quantity.count(usage.checkpointFileCount), bytes(usage.checkpointByteCount)])
        table.add(["index runs", Quantity.count(usage.runCount), bytes(usage.runByteCount)])
        table.add(["manifest", "1", bytes(usage.manifestByteCount)])
        table.add(["in all", "", bytes(usage.byteCount)])
        let uncounted = [
            Self.note(
                usage.quarantinedFileCount, usage.quarantinedByteCount, in: FileName.quarantine,
                "the engine neither reads nor removes what lies there"),
            Self.note(
                usage.retainedFileCount, usage.retainedByteCount, in: FileName.retained, "states of the past need them"),
        ]
        for note in uncounted { if let note { table.note(note) } }
        if let freeByteCount { table.note("\(bytes(freeByteCount)) free on the file system") }
        return table
    }
}
