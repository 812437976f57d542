import Faultline
import FaultlineCommands

/// The report of a demo run: a table for people, a line of JSON for scripts.
struct DemoReport {
    /// Bytes that a step may take over its bound for memory outside the engine.
    static let allowance = 16 << 20
    /// The most bytes over the base line that listing all names may take, with a cache budget of 4 MiB.
    static let listByteCountMax = 8 << 20

    var readSeconds = 0.0
    var objects: StepFigures?
    var blobs: StepFigures?
    var reopen: StepFigures?
    var touch: StepFigures?
    var sections: StepFigures?
    var steps: [MeasuredStep: StepFigures] = [:]
    var largestSections: [Reading.SectionSize] = []
    var compareSeconds = 0.0
    var verifySeconds = 0.0
    var verifyFindings: [String] = []
    var storeByteCount = 0
    var lostCount = 0
    /// Why the demo failed; empty if it did not.
    var failures: [String] = []
    private var comparison: Comparison?
    private var notes: [String] = []
    private var counts: [(name: String, number: Int)] = []

    mutating func describe(_ set: PackageSet, _ options: DemoOptions) {
        counts = [
            ("packages", set.packages.count), ("objects", set.objectCount), ("relations", set.relations.count),
            ("blobs", set.fileCount), ("blob_mib", set.fileByteCount >> 20), ("repetitions", set.repetitionCount),
            ("broken_stanzas", set.report.brokenStanzaCount), ("broken_fields", set.report.brokenFieldCount),
        ]
        notes.append(
            "\(Quantity.count(set.packages.count)) packages, \(Quantity.count(set.relations.count)) relations, \(Quantity.count(set.fileCount)) files of \(Quantity.bytes(set.fileByteCount)): \(set.origin)"
        )
        if set.repetitionCount > 1 { notes.append("the set was repeated \(set.repetitionCount) times under new names") }
        for skipped in set.report.skipped.prefix(5) { notes.append("skipped: \(skipped)") }
    }

    mutating func take(_ comparison: Comparison) {
        self.comparison = comparison
        for example in comparison.examples { notes.append(example) }
    }

    /// Notes every bound that was not kept.
    mutating func checkBounds(_ options: DemoOptions) {
        if let list = steps[.list] {
            if options.cacheMiB <= 4, list.memoryByteCount > Self.listByteCountMax {
                failures.append(
                    "listing took \(Quantity.bytes(list.memoryByteCount)) over the base line, more than 8 MiB"
                )
            }
            if list.blobByteCount > 0 {
                failures.append("listing read \(list.blobByteCount) bytes of large attributes")
            }
        }
        for step in [MeasuredStep.lightweight, .streamed] {
            guard let figures = steps[step] else { continue }
            if figures.memoryByteCount > options.ceilingMiB << 20 + Self.allowance {
                failures.append(
                    "the \(step.rawValue) migration took \(Quantity.bytes(figures.memoryByteCount)) over the base line, more than its ceiling of \(options.ceilingMiB) MiB and 16 MiB"
                )
            }
            if figures.blobByteCount > 0 {
                failures.append(
                    "the \(step.rawValue) migration read \(figures.blobByteCount) bytes of large attributes"
                )
            }
        }
        if let comparison, comparison.mismatchCount > 0 {
            failures.append("\(comparison.mismatchCount) differences from the source")
        }
        if !verifyFindings.isEmpty { failures.append("verifying found \(verifyFindings.count): \(verifyFindings[0])") }
    }

    // MARK: The table

    func printTable() {
        var table = Table([
            ("step", .left), ("what", .right), ("time", .right), ("rate", .right), ("memory over base line", .right),
        ])
        func add(
            _ name: String,
            _ figures: StepFigures?,
            _ unit: String,
            isBytes: Bool = false,
            hasMemory: Bool = false
        ) {
            guard let figures else { return }
            let count = isBytes ? max(figures.count, figures.blobByteCount) : figures.count
            let rate =
                isBytes && figures.seconds > 0
                ? Quantity.bytes(Int(Double(count) / figures.seconds)) + "/s"
                : Quantity.rate(count, in: figures.seconds)
            table.add([
                name, isBytes ? Quantity.bytes(count) : "\(Quantity.count(count)) \(unit)",
                Quantity.seconds(figures.seconds),
                count > 0 ? rate : "", hasMemory ? Quantity.bytes(figures.memoryByteCount) : "",
            ])
        }
        add("import objects", objects, "objects")
        add("import files", blobs, "", isBytes: true)
        if let reopen { table.add(["reopen", "", Quantity.seconds(reopen.seconds)]) }
        add("list all names", steps[.list], "packages", hasMemory: true)
        add("touch every file", touch, "", isBytes: true)
        add("sections by installed size", sections, "packages")
        add("migrate, lightweight", steps[.lightweight], "rewritten", hasMemory: true)
        add("migrate, streamed", steps[.streamed], "objects written", hasMemory: true)
        if let comparison {
            var figures = StepFigures()
            figures.seconds = compareSeconds
            figures.count = comparison.objectCount
            add("compare with the source", figures, "objects")
        }
        if storeByteCount > 0 {
            table.add([
                "verify", Quantity.bytes(storeByteCount), Quantity.seconds(verifySeconds),
                Quantity.bytes(Int(Double(storeByteCount) / max(verifySeconds, 1e-9))) + "/s",
            ])
        }
        for note in notes { table.note(note) }
        if !largestSections.isEmpty {
            let words = largestSections.map { "\($0.name) \(Quantity.bytes($0.byteCount))" }
            table.note("largest sections: " + words.joined(separator: ", "))
        }
        for failure in failures { table.note("FAILED: \(failure)") }
        table.print()
    }

    // MARK: The line

    func printLine() {
        var line = JSONLine()
        line.add("demo", failures.isEmpty ? "ok" : "failed")
        if !failures.isEmpty { line.add("reason", failures.joined(separator: "; ")) }
        for (name, number) in counts { line.add(name, number) }
        if let objects {
            line.add("import_objects_per_s", objects.seconds > 0 ? Int(Double(objects.count) / objects.seconds) : 0)
        }
        if let blobs { line.add("import_blob_mib_per_s", Self.mib(blobs.count) / max(blobs.seconds, 1e-9), digits: 0) }
        if let reopen { line.add("reopen_ms", reopen.seconds * 1e3) }
        if let list = steps[.list] {
            line.add("list_per_s", Int(Double(list.count) / max(list.seconds, 1e-9)))
            line.add("list_over_baseline_mib", Self.mib(list.memoryByteCount))
        }
        if let touch {
            line.add("touch_mib_per_s", Self.mib(touch.blobByteCount) / max(touch.seconds, 1e-9), digits: 0)
        }
        if let sections { line.add("sections_ms", sections.seconds * 1e3) }
        if let lightweight = steps[.lightweight], let streamed = steps[.streamed] {
            line.add("migrate_lightweight_ms", lightweight.seconds * 1e3)
            line.add("migrate_streamed_s", streamed.seconds)
            line.add("migrate_over_baseline_mib", Self.mib(max(lightweight.memoryByteCount, streamed.memoryByteCount)))
            line.add("migrate_blob_bytes_read", lightweight.blobByteCount + streamed.blobByteCount)
        }
        if let comparison {
            line.add("compared_objects", comparison.objectCount)
            line.add("compared_blob_mib", comparison.byteCount >> 20)
            line.add("source_changed_files", comparison.changedFileCount)
            line.add("source_mismatches", comparison.mismatchCount)
            line.add("verify_findings", verifyFindings.count)
            line.add("store_mib", storeByteCount >> 20)
        }
        line.add("lost", lostCount)
        Terminal.output.write(line.line + "\n")
    }

    private static func mib(_ byteCount: Int) -> Double { Double(byteCount) / 1_048_576 }
}
