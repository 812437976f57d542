import ArgumentParser
import FaultlineDisk
import FaultlineLog
import FaultlineModel
import FaultlineStore

/// `faultline info`: what a store holds, and what it takes on the disk.
struct InfoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: "Counts entities, segments and blobs of a store, and the space they take."
    )

    @OptionGroup var arguments: StoreArguments

    func run() throws {
        let store = try OpenedStore(arguments.store)
        let usage = try ToolFailure.working { try store.log.usage() }
        let blobCount = usage.recordCounts[.blobs] ?? 0
        let entities = store.rows.storage.entities.map { entity in
            (entity.name, store.snapshot.recordCount(of: entity.table))
        }
        if arguments.json {
            var line = JSONLine()
            line.add("schema_version", "\(store.catalog.schema.version)")
            line.add("sequence", Int(clamping: store.snapshot.sequence))
            line.add("migrating", store.catalog.migration != nil)
            line.add(
                "entities",
                entities.map { name, count in
                    var entity = JSONLine()
                    entity.add("name", name)
                    entity.add("objects", count)
                    return entity
                }
            )
            line.add("blobs", blobCount)
            line.add("bytes", Int(clamping: usage.byteCount))
            line.add("live_bytes", Int(clamping: usage.liveByteCount))
            line.add("live_share", usage.liveShare)
            line.add(
                "segments",
                usage.segments.map { segment in
                    var line = JSONLine()
                    line.add("number", Int(clamping: segment.number))
                    line.add("kind", "\(segment.kind)")
                    line.add("bytes", Int(clamping: segment.byteCount))
                    line.add("live_bytes", Int(clamping: segment.liveByteCount))
                    line.add("sealed", segment.isSealed)
                    return line
                }
            )
            Terminal.output.write(line.line + "\n")
            return
        }
        var table = Table([("entity", .left), ("objects", .right)])
        for (name, count) in entities { table.add([name, Quantity.count(count)]) }
        table.add(["(blobs)", Quantity.count(blobCount)])
        table.note("schema version \(store.catalog.schema.version)")
        if store.catalog.migration != nil {
            table.note("a migration is under way: it goes on when the store is opened under the plan that began it")
        }
        table.print()
        Terminal.output.write("\n")
        var files = Table([("file", .left), ("number", .right), ("bytes", .right), ("live", .right)])
        for segment in usage.segments {
            files.add([
                "\(segment.kind)", "\(segment.number)", Quantity.bytes(Int(clamping: segment.byteCount)),
                Quantity.bytes(Int(clamping: segment.liveByteCount)),
            ])
        }
        files.add([
            "checkpoints", "\(usage.checkpointFileCount)", Quantity.bytes(Int(clamping: usage.checkpointByteCount)),
        ])
        files.add(["index runs", "\(usage.runCount)", Quantity.bytes(Int(clamping: usage.runByteCount))])
        files.add([
            "in all", "", Quantity.bytes(Int(clamping: usage.byteCount)),
            Quantity.bytes(Int(clamping: usage.liveByteCount)),
        ])
        files.note("of the segments \(Int((usage.liveShare * 100).rounded())) % are live")
        files.print()
    }
}
