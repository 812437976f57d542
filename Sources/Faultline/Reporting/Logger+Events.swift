internal import FaultlineDisk
package import FaultlineLog
package import Logging

extension Logger {
    /// Logs an event of the engine: lost data and stopped work as errors, problems that need a person as warnings,
    /// repairs as notices, the rest at lower levels for close inspection.
    package func write(_ event: FaultlineLog.LogEvent) {
        switch event {
        case .opened(let report, let nanoseconds): write(report, nanoseconds)
        case .checkpointMade(let sequence, let byteCount, let nanoseconds):
            debug(
                "A checkpoint was made.",
                metadata: Self.metadata(["transaction": sequence, "bytes": byteCount, "nanoseconds": nanoseconds]))
        case .runsMerged(let count, let byteCount, let nanoseconds):
            trace(
                "Index runs were merged.",
                metadata: Self.metadata(["runs": UInt64(count), "bytes": byteCount, "nanoseconds": nanoseconds]))
        case .compactionBegan(let predictedByteCount):
            debug("A compaction begins.", metadata: Self.metadata(["predicted_bytes": predictedByteCount]))
        case .compactionEnded(let segmentCount, let movedByteCount, let droppedByteCount, let nanoseconds):
            debug(
                "A compaction ended.",
                metadata: Self.metadata([
                    "segments": UInt64(segmentCount), "moved_bytes": movedByteCount,
                    "dropped_bytes": droppedByteCount, "nanoseconds": nanoseconds,
                ]))
        case .segmentDropped(let path, let byteCount):
            debug(
                "A segment was dropped.",
                metadata: Self.metadata(["bytes": byteCount], path: path))
        case .rotMet(let place):
            error(
                "Bytes differ from those that were written. \(place.message) \(LogError.damageRemedy)",
                metadata: Self.metadata([:], path: place.path, offset: place.offset))
        case .diskFull(let error):
            warning(
                "The disk is full: writes are refused, reads and deletes go on. \(error.message)",
                metadata: Self.metadata([:], path: error.path))
        case .spaceCameBack: notice("There is space again: writes go on.")
        case .pastStatesLost(let error): warning("States of the past are not kept until the next opening: \(error)")
        case .maintenanceFailed(let error):
            warning(
                "A checkpoint or a compaction failed; it is tried again. \(error)",
                metadata: Self.metadata([:], path: error.path, offset: error.offset))
        case .poisoned(let error):
            self.error(
                "A write failed: nothing more is written until the store is opened again. \(error)",
                metadata: Self.metadata([:], path: error.path, offset: error.offset))
        case .openFilesExceedLimit(let count):
            let remedy = "Raise ModelContainer.openFileLimit, or close stores."
            warning("More files of stores stay open than the limit has room for. \(count.fact) \(remedy)")
        case .closed: info("The store was closed.")
        case .eventsLost(let count):
            warning(
                "Events were lost: the logger or the metrics take too long.",
                metadata: Self.metadata(["events": UInt64(count)]))
        }
    }

    private func write(_ report: OpenReport, _ nanoseconds: UInt64) {
        for name in report.ignoredDerivedFiles {
            warning(
                "A file did not verify and was made again from the segments.", metadata: Self.metadata([:], path: name))
        }
        var figures = ["nanoseconds": nanoseconds]
        guard !report.wasClean, !report.wasCreated else {
            let message: Logger.Message = report.wasCreated ? "The store was created." : "The store was opened."
            return info(message, metadata: Self.metadata(figures))
        }
        figures["replayed_bytes"] = report.replayedByteCount
        figures["replayed_transactions"] = UInt64(report.replayedTransactionCount)
        figures["rescued_transactions"] = UInt64(report.rescuedTransactionCount)
        if let tail = report.lostTail { figures["lost_transactions"] = tail.count }
        figures["discarded_bytes"] = report.discardedByteCount
        figures["removed_files"] = UInt64(report.removedFiles.count)
        figures["quarantined_files"] = UInt64(report.quarantinedFiles.count)
        figures["quarantined_bytes"] = report.quarantinedByteCount
        notice("The store had not been closed cleanly and was recovered.", metadata: Self.metadata(figures))
    }

    private static func metadata(
        _ figures: [String: UInt64], path: String? = nil, offset: UInt64? = nil
    ) -> Logger.Metadata {
        var metadata: Logger.Metadata = [:]
        for (name, figure) in figures { metadata["faultline.\(name)"] = "\(figure)" }
        if let path { metadata["faultline.path"] = "\(path)" }
        if let offset { metadata["faultline.offset"] = "\(offset)" }
        return metadata
    }
}
