import FaultlineBackup
import FaultlineCommands
import FaultlineDisk

extension BackupMoment {
    /// `4,711 of 2026-11-27T20:40:12Z`.
    var text: String {
        let count = Quantity.count(Int(clamping: transaction))
        guard nanoseconds > 0 else { return count }
        return "\(count) of \(UTCDate.text(secondsSince1970: nanoseconds / 1_000_000_000))"
    }

    var line: JSONLine {
        var line = JSONLine()
        line.add("transaction", Int(clamping: transaction))
        line.add("nanoseconds", Int(nanoseconds))
        return line
    }
}

extension Backup {
    var line: JSONLine {
        var line = JSONLine()
        line.add("backup", number)
        line.add("nanoseconds", Int(nanoseconds))
        line.add("first", first.line)
        line.add("last", last.line)
        line.add("bytes", Int(clamping: byteCount))
        return line
    }
}

extension CommandFailure {
    /// The failure of a command on backups: a store or a directory that cannot be opened has status 3.
    static func ofBackups(_ error: any Error) -> CommandFailure {
        let status = (error as? BackupError)?.code == .notFound ? cannotOpen : refused
        return CommandFailure(status, sentence(for: error), cause: error)
    }
}
