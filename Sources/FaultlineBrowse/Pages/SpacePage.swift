import FaultlineCommands
import FaultlineLog

/// The space that entities and files take, and the live share of each segment as a map.
struct SpacePage {
    /// The segments that the map shows.
    private static let segmentCountMax = 400

    let layout: PageLayout
    let view: StoreView
    let count: SpaceCount

    func markup() throws -> Markup {
        switch count.progress(view) {
        case .counting(let done, let total):
            return layout.page(
                "Space", trail: [("Overview", .overview)], refreshes: 1,
                """
                <p>Counting: \(Quantity.count(done)) of \(Quantity.count(total)) objects. The page loads itself again.</p>
                \(bar(Double(done) / Double(max(total, 1)), "counted"))
                """)
        case .failed(let sentence):
            return layout.page("Space", trail: [("Overview", .overview)], "<p class=\"warn\">\(sentence)</p>")
        case .done(let result):
            return layout.page(
                "Space", trail: [("Overview", .overview)],
                """
                <p class="soft">Counted at transaction \(result.sequence): \(size(result.usage.byteCount)) in \
                files, of which \(size(result.usage.liveByteCount)) in segments are live.</p>
                <h2>Entities</h2>\(entities(result).markup(empty: "No entity."))
                <h2>Segments</h2>\(map(result.usage))
                <h2>Other files</h2>\(files(result.usage).markup(empty: ""))
                """)
        }
    }

    private func size(_ count: UInt64) -> String { Quantity.bytes(Int(clamping: count)) }

    private func entities(_ result: SpaceCount.Result) -> MarkupTable {
        var table = MarkupTable(
            ["entity", "objects", "rows", "values out of rows", "their bytes", "share"], numeric: [1, 2, 3, 4])
        let total = result.entities.reduce(0) { $0 + $1.rowByteCount + $1.blobByteCount }
        for space in result.entities.sorted(by: {
            $0.rowByteCount + $0.blobByteCount > $1.rowByteCount + $1.blobByteCount
        }) {
            let share = Double(space.rowByteCount + space.blobByteCount) / Double(max(total, 1))
            table.add([
                layout.link(space.name, .entity(space.name)), "\(Quantity.count(space.objectCount))",
                "\(Quantity.bytes(space.rowByteCount))", "\(Quantity.count(space.blobCount))",
                "\(Quantity.bytes(space.blobByteCount))", bar(share, "of all"),
            ])
        }
        return table
    }

    private func map(_ usage: LogUsage) -> Markup {
        let items = usage.segments.prefix(Self.segmentCountMax).map { segment -> Markup in
            let share = Double(segment.liveByteCount) / Double(max(segment.byteCount, 1))
            let kind =
                switch segment.kind {
                case .hotSegment: "hot"
                case .coldSegment: "cold"
                default: "blobs"
                }
            return """
                <li><strong>\(kind) \(segment.number)</strong>\(segment.isSealed ? "" : " <span class=\"kind\">open</span>" as Markup)<br/>\
                \(bar(share, "live"))\(size(segment.byteCount)), \(Quantity.share(share)) live</li>

                """
        }
        let more: Markup? =
            usage.segments.count > Self.segmentCountMax
            ? "<p class=\"soft\">The first \(Self.segmentCountMax) of \(Quantity.count(usage.segments.count)) segments.</p>"
            : nil
        return "<ul class=\"map\">\(Markup(items))</ul>\(more)"
    }

    private func files(_ usage: LogUsage) -> MarkupTable {
        var table = MarkupTable(["files", "count", "bytes"], numeric: [1, 2])
        table.add(["checkpoints", "\(usage.checkpointFileCount)", "\(size(usage.checkpointByteCount))"])
        table.add(["index runs", "\(usage.runCount)", "\(size(usage.runByteCount))"])
        table.add(["manifest", "1", "\(size(usage.manifestByteCount))"])
        if usage.quarantinedFileCount > 0 {
            table.add(["quarantine", "\(usage.quarantinedFileCount)", "\(size(usage.quarantinedByteCount))"])
        }
        return table
    }

    /// A bar that is filled up to a share.
    private func bar(_ share: Double, _ name: String) -> Markup {
        let percent = Int((min(max(share, 0), 1) * 100).rounded())
        return """
            <svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" role="img" \
            aria-label="\(percent) percent \(name)"><rect class="dead" width="100" height="8"/>\
            <rect class="live" width="\(percent)" height="8"/></svg>
            """
    }
}
