import ArgumentParser
import FaultlineBackup
import FaultlineCommands
import FaultlineDisk

/// `faultline backup`: copies a store that may be in use.
struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        "backup",
        abstract: "Copies a store that may be in use into a directory of backups, and verifies it.",
        discussion: """
            All transactions that were acknowledged before the command are in the backup. With --incremental only bytes are copied that the last \
            backup of the directory lacks. `faultline restore` makes a store of any of the states.
            """,
        example: "faultline backup /var/lib/photos.store /var/lib/photos.backups --incremental --keep 30"
    )

    @OptionGroup var arguments: StoreArguments

    @Argument(help: "The directory of the backups: it does not exist or is empty, or has backups of the store.")
    var destination: String

    @Flag(help: "Adds to the backups of the directory.")
    var incremental = false

    @Option(help: ArgumentHelp("The number of backups to keep; older ones are removed.", valueName: "count"))
    var keep: Int?

    @Option(
        help: ArgumentHelp(
            "The most bytes to copy in a second, 1048576 at least; 0 is no bound.", valueName: "bytes"))
    var limitRate = 33_554_432

    @Flag(help: "Begins even if the disk seems to have too little room.")
    var skipSpaceCheck = false

    func validate() throws {
        if let keep, keep < 1 { throw ValidationError("--keep is 1 or more.") }
        if limitRate != 0, limitRate < 1 << 20 { throw ValidationError("--limit-rate is 1048576 or more, or 0.") }
    }

    func run() throws {
        var options = BackupOptions()
        options.isIncremental = incremental
        options.keeps = keep
        options.bytesPerSecond = limitRate == 0 ? nil : limitRate
        options.checksSpace = !skipSpaceCheck
        let line = BackupProgress("copying")
        options.progress = line.update
        let begin = monotonicSeconds()
        let report: BackupReport
        do {
            defer { line.finish() }
            report = try BackupWriter(of: arguments.store, on: PosixDisk(), clock: .system, options: options)
                .write(to: destination)
        } catch {
            throw CommandFailure.ofBackups(error)
        }
        show(report, seconds: monotonicSeconds() - begin)
    }

    private func show(_ report: BackupReport, seconds: Double) {
        guard !arguments.json else {
            var line = report.backup.line
            line.add("files", report.fileCount)
            line.add("copiedFiles", report.copiedFileCount)
            line.add("copiedBytes", Int(clamping: report.copiedByteCount))
            line.add("removed", report.removed)
            line.add("seconds", seconds)
            Terminal.output.write(line.line + "\n")
            return
        }
        let copied = Quantity.bytes(Int(clamping: report.copiedByteCount))
        let removed = report.removed.isEmpty ? "" : " Removed \(Quantity.count(report.removed.count)) old ones."
        Terminal.output.write(
            """
            Backup \(report.backup.number) has transaction \(report.backup.last.text): \
            \(copied) copied in \(Quantity.seconds(seconds)), \
            \(Quantity.bytes(Int(clamping: report.backup.byteCount))) in all.\(removed)

            """)
    }
}
