import FaultlineCommands
import FaultlineLog

extension StoreSummary {
    /// The summary as JSON; figures that were not counted are null.
    var line: JSONLine {
        var line = JSONLine()
        line.add("schema_version", schemaVersion)
        line.add("sequence", Int(clamping: sequence))
        line.add("migrating", isMigrating)
        line.add("open", openingLine)
        line.add("entities", entities.map(entityLine))
        add("engine_bytes", engineByteCount, to: &line)
        var historyLine = JSONLine()
        historyLine.add("records", historyRecordCount)
        add("bytes", historyByteCount, to: &historyLine)
        line.add("history", historyLine)
        line.add("blobs", blobCount)
        line.add("bytes", Int(clamping: usage.byteCount))
        add("live_bytes", Int(clamping: usage.liveByteCount), to: &line)
        if isCounted { line.add("live_share", usage.liveShare) } else { line.addNull("live_share") }
        if let freeByteCount { line.add("free_bytes", Int(clamping: freeByteCount)) }
        line.add("segments", usage.segments.map(segmentLine))
        line.add("checkpoints", fileLine(usage.checkpointFileCount, usage.checkpointByteCount))
        line.add("runs", fileLine(usage.runCount, usage.runByteCount))
        line.add("retained", fileLine(usage.retainedFileCount, usage.retainedByteCount))
        line.add("quarantine", fileLine(usage.quarantinedFileCount, usage.quarantinedByteCount))
        if let kept {
            var keptLine = JSONLine()
            keptLine.add("bytes", Int(clamping: kept.heldByteCount))
            keptLine.add("until", Int(kept.untilNanoseconds / 1_000_000_000))
            line.add("grace_period", keptLine)
        } else {
            line.addNull("grace_period")
        }
        if let writer {
            line.add("writer", writer)
            // Only that process knows its pins.
            line.addNull("pins")
        } else {
            line.addNull("writer")
            line.add("pins", [JSONLine]())
        }
        if let damage { line.add("damage", StoreFinding(damage).json) }
        return line
    }

    private func add(_ key: String, _ value: Int, to line: inout JSONLine) {
        if isCounted { line.add(key, value) } else { line.addNull(key) }
    }

    private var openingLine: JSONLine {
        var line = JSONLine()
        line.add("clean", opening.wasClean)
        line.add("replayed_bytes", Int(clamping: opening.replayedByteCount))
        line.add("replayed_transactions", opening.replayedTransactionCount)
        line.add("unreadable_files", opening.ignoredDerivedFiles.count)
        return line
    }

    private func entityLine(_ entity: EntitySpace) -> JSONLine {
        var line = JSONLine()
        line.add("name", entity.name)
        line.add("objects", entity.objectCount)
        add("row_bytes", entity.rowByteCount, to: &line)
        add("blobs", entity.blobCount, to: &line)
        add("blob_bytes", entity.blobByteCount, to: &line)
        if entity.unreadableCount > 0 { line.add("unreadable", entity.unreadableCount) }
        return line
    }

    private func segmentLine(_ segment: LogUsage.Segment) -> JSONLine {
        var line = JSONLine()
        line.add("number", Int(clamping: segment.number))
        line.add("kind", "\(segment.kind)")
        line.add("bytes", Int(clamping: segment.byteCount))
        add("live_bytes", Int(clamping: segment.liveByteCount), to: &line)
        line.add("sealed", segment.isSealed)
        return line
    }

    private func fileLine(_ count: Int, _ byteCount: UInt64) -> JSONLine {
        var line = JSONLine()
        line.add("count", count)
        line.add("bytes", Int(clamping: byteCount))
        return line
    }
}
