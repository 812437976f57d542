import Faultline
import FaultlineCommands

/// One run of the demo: finished work of an earlier run is not repeated.
package struct Demo {
    /// Checks the store at a path, and calls `progress` with the bytes done so far, and the bytes in all.
    package typealias Verifying = (_ path: String, _ progress: (_ done: Int, _ total: Int) -> Void) throws -> Verdict

    /// The outcome of a check of the whole store.
    package struct Verdict: Sendable {
        /// A sentence for each fault.
        package let findings: [String]
        /// Bytes of the store on disk.
        package let storeByteCount: Int

        package init(findings: [String], storeByteCount: Int) {
            self.findings = findings
            self.storeByteCount = storeByteCount
        }
    }

    private let options: DemoOptions
    private let verifying: Verifying
    private var report = DemoReport()

    /// Prepares a run.
    ///
    /// - Parameters:
    ///   - options: The options.
    ///   - verifying: The last step. The tool gives `faultline verify`, which reads below the public face.
    package init(_ options: DemoOptions, verifying: @escaping Verifying) {
        self.options = options
        self.verifying = verifying
    }

    /// Runs all steps, and prints the table and the JSON line.
    ///
    /// - Throws: A failure that ends the tool, after a JSON line that gives the reason.
    package mutating func run() throws {
        do {
            try runSteps()
        } catch {
            let failure =
                error as? CommandFailure ?? CommandFailure(CommandFailure.refused, CommandFailure.sentence(for: error))
            report.failures.append(failure.message)
            report.printLine()
            throw failure
        }
        report.printTable()
        report.printLine()
        if !report.failures.isEmpty { endProcess(CommandFailure.refused) }
    }

    private mutating func runSteps() throws {
        let place = StorePlace(options.store)
        if options.fresh { try place.remove(options.journalPath) }
        let isGoingOn = place.exists
        let journal = try Journal(options.journalPath)
        let set = try readSource()
        try checkSource(set, journal, isGoingOn: isGoingOn)
        report.describe(set, options)
        announce("phase import")
        try importAll(set, journal)
        announce("phase read")
        try measure(.list, journal)
        try readUnderFirstSchema(set, journal)
        announce("phase migrate")
        try measure(.lightweight, journal)
        try measure(.streamed, journal)
        announce("phase compare")
        try compare(set)
        try verify()
        report.checkBounds(options)
    }

    /// Reports the phase to the process that kills this one.
    private func announce(_ text: String) {
        if options.announce { Terminal.output.write(text + "\n") }
    }

    // MARK: The source

    private mutating func readSource() throws -> PackageSet {
        let begin = monotonicSeconds()
        var files = LargestFiles()
        files.totalByteCountMax = options.blobMiB << 20
        var database = PackageDatabase()
        database.leastObjectCount = options.leastObjectCount
        database.largestFiles = files
        let set: PackageSet
        if options.folder == nil, database.exists {
            set = try database.read()
        } else {
            var tree = FolderTree(root: options.folder ?? "/usr")
            tree.leastObjectCount = options.leastObjectCount
            tree.largestFiles = files
            set = try tree.read()
        }
        report.readSeconds = monotonicSeconds() - begin
        return set
    }

    /// Refuses to continue with another source than the first run's.
    private func checkSource(_ set: PackageSet, _ journal: Journal, isGoingOn: Bool) throws {
        let digest = set.digest
        if let begun = journal["source"], isGoingOn, begun != digest {
            throw CommandFailure(
                CommandFailure.refused,
                "\(options.store) was begun with other packages or files than this machine has now. Begin anew with --fresh."
            )
        }
        try journal.set(["source": digest])
    }

    // MARK: Steps

    private mutating func importAll(_ set: PackageSet, _ journal: Journal) throws {
        if journal["imported"] == nil {
            let container = try CommandFailure.opening(options.store) {
                try MeasuredStep.open(options.store, DemoV1.self)
            }
            var importer = Importer(set, into: container, journal: journal)
            try importer.recognise()
            if importer.lostCount > 0 {
                report.lostCount += importer.lostCount
                report.failures.append("\(importer.lostCount) acknowledged objects are not in the store")
            }
            announce("lost \(importer.lostCount)")
            try storeObjects(&importer, set, journal)
            try storePayloads(&importer, set, journal)
            try container.close()
            try journal.set(["imported": 1])
        }
        report.objects = journal.figures(of: "objects")
        report.blobs = journal.figures(of: "blobs")
    }

    private func storeObjects(_ importer: inout Importer, _ set: PackageSet, _ journal: Journal) throws {
        guard journal.figures(of: "objects") == nil else { return }
        var line = ProgressLine("storing", total: set.objectCount, unit: "objects")
        let begin = monotonicSeconds()
        try importer.storeObjects { line.update($0) }
        line.finish()
        var figures = StepFigures()
        figures.seconds = monotonicSeconds() - begin + report.readSeconds
        figures.count = importer.storedObjectCount
        try journal.finish("objects", figures)
    }

    private func storePayloads(_ importer: inout Importer, _ set: PackageSet, _ journal: Journal) throws {
        var line = ProgressLine("storing files", total: set.fileByteCount, unit: "bytes")
        let begin = monotonicSeconds()
        try importer.storePayloads { line.update($0) }
        line.finish()
        var figures = StepFigures()
        figures.seconds = monotonicSeconds() - begin
        figures.count = importer.storedByteCount
        try journal.finish("blobs", figures)
    }

    /// Runs a step in a process of its own.
    private mutating func measure(_ step: MeasuredStep, _ journal: Journal) throws {
        if journal.figures(of: step.rawValue) == nil {
            var line = ProgressLine("\(step.rawValue) …")
            line.update(0)
            let child = try ChildProcess([
                "demo-step", step.rawValue, options.store, "--cache-mib", "\(options.cacheMiB)", "--ceiling-mib",
                "\(options.ceilingMiB)",
            ])
            var text = ""
            while let next = child.line() { text += next + "\n" }
            let status = child.finish()
            line.finish()
            guard status == 0 else {
                throw CommandFailure(
                    status,
                    "The step \(step.rawValue) ended with status \(status); its own message stands above."
                )
            }
            try journal.finish(step.rawValue, StepFigures(lines: text))
        }
        report.steps[step] = journal.figures(of: step.rawValue)
    }

    /// Opens the store once more, reads every large attribute, and runs a query across relations.
    private mutating func readUnderFirstSchema(_ set: PackageSet, _ journal: Journal) throws {
        if journal.figures(of: "sections") == nil {
            var figures = StepFigures()
            var begin = monotonicSeconds()
            let container = try CommandFailure.opening(options.store) {
                try MeasuredStep.open(options.store, DemoV1.self)
            }
            figures.seconds = monotonicSeconds() - begin
            figures.count = set.objectCount
            try journal.finish("reopen", figures)

            let reading = Reading(container)
            var line = ProgressLine("touching files", total: set.fileByteCount, unit: "bytes")
            begin = monotonicSeconds()
            figures.blobByteCount = try reading.touchBlobs { line.update($0) }
            line.finish()
            figures.seconds = monotonicSeconds() - begin
            try journal.finish("touch", figures)

            begin = monotonicSeconds()
            let sections = try reading.sectionsByInstalledSize()
            figures = StepFigures()
            figures.seconds = monotonicSeconds() - begin
            figures.count = sections.reduce(0) { $0 + $1.packageCount }
            report.largestSections = Array(sections.prefix(3))
            try container.close()
            try journal.finish("sections", figures)
        }
        report.reopen = journal.figures(of: "reopen")
        report.touch = journal.figures(of: "touch")
        report.sections = journal.figures(of: "sections")
    }

    // MARK: Checks

    private mutating func compare(_ set: PackageSet) throws {
        let container = try CommandFailure.opening(options.store) { try MeasuredStep.open(options.store, DemoV3.self) }
        var line = ProgressLine("comparing", total: set.objectCount, unit: "objects")
        let begin = monotonicSeconds()
        var comparison = Comparison(set, container)
        try comparison.run { line.update($0) }
        line.finish()
        report.compareSeconds = monotonicSeconds() - begin
        try container.close()
        report.take(comparison)
    }

    private mutating func verify() throws {
        var line: ProgressLine?
        let begin = monotonicSeconds()
        let verdict = try verifying(options.store) { done, total in
            if line == nil { line = ProgressLine("verifying", total: total, unit: "bytes") }
            line?.update(done)
        }
        line?.finish()
        report.verifySeconds = monotonicSeconds() - begin
        report.verifyFindings = verdict.findings
        report.storeByteCount = verdict.storeByteCount
    }
}
