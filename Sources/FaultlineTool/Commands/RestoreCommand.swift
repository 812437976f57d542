import ArgumentParser
import FaultlineBackup
import FaultlineCommands
import FaultlineDisk

/// `faultline restore`: makes a store from backups.
struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        "restore",
        abstract: "Makes a store from a directory of backups: of the newest state, or of an older one.",
        discussion: """
            Without a destination it lists the backups and the transactions that they hold. Every byte is verified; there is a store at the \
            destination only if all went well. The store is another instance: its backups need a directory of their own.
            """,
        example: "faultline restore /var/lib/photos.backups /var/lib/photos-new.store --at 2026-11-27T20:40:00Z"
    )

    @Argument(help: "The directory of the backups.")
    var source: String

    @Argument(help: "Where the store will be: a directory that does not exist, or is empty.")
    var destination: String?

    @OptionGroup var state: StateArguments

    @Option(help: ArgumentHelp("The state of that backup.", valueName: "number"))
    var backup: Int?

    @Option(help: ArgumentHelp("The most bytes to copy in a second, 1048576 at least.", valueName: "bytes"))
    var limitRate: Int?

    @Flag(help: "Prints JSON, one object a line.")
    var json = false

    func validate() throws {
        if state.isGiven, backup != nil {
            throw ValidationError("--at, --transaction and --backup exclude each other.")
        }
        if state.isGiven || backup != nil, destination == nil { throw ValidationError("A state needs a destination.") }
        if let limitRate, limitRate < 1 << 20 { throw ValidationError("--limit-rate is 1048576 or more.") }
    }

    func run() throws {
        var options = BackupOptions.restoring
        options.bytesPerSecond = limitRate
        let line = BackupProgress("restoring")
        options.progress = line.update
        let restorer = Restorer(from: source, on: PosixDisk(), clock: .system, options: options)
        do {
            guard let destination else { return show(try restorer.backups()) }
            let begin = monotonicSeconds()
            defer { line.finish() }
            let report = try restorer.restore(to: destination, at: try backup.map(RestorePoint.backup) ?? state.point())
            line.finish()
            show(report, destination, seconds: monotonicSeconds() - begin)
        } catch {
            throw CommandFailure.ofBackups(error)
        }
    }

    private func show(_ backups: [Backup]) {
        for backup in backups {
            if json {
                Terminal.output.write(backup.line.line + "\n")
                continue
            }
            let range = "transactions \(backup.first.text) to \(backup.last.text)"
            Terminal.output.write(
                "\(backup.number): \(range), \(Quantity.bytes(Int(clamping: backup.byteCount)))\n")
        }
    }

    private func show(_ report: RestoreReport, _ destination: String, seconds: Double) {
        guard !json else {
            var line = JSONLine()
            line.add("store", destination)
            line.add("backup", report.backup)
            line.add("last", report.last.line)
            line.add("files", report.fileCount)
            line.add("bytes", Int(clamping: report.byteCount))
            line.add("seconds", seconds)
            Terminal.output.write(line.line + "\n")
            return
        }
        Terminal.output.write(
            """
            \(destination) has transaction \(report.last.text), from backup \(report.backup): \
            \(Quantity.bytes(Int(clamping: report.byteCount))) in \(Quantity.seconds(seconds)).

            """)
    }
}
