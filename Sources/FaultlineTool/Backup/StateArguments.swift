import ArgumentParser
import FaultlineBackup
import FaultlineCommands
import FaultlineDisk
import FaultlineLog
import Foundation

/// The arguments of every command that reads a state of the past.
struct StateArguments: ParsableArguments {
    @Option(help: ArgumentHelp("The state at that moment, such as 2026-11-27T20:40:00Z.", valueName: "time"))
    var at: String?

    @Option(help: ArgumentHelp("The state after that transaction.", valueName: "number"))
    var transaction: UInt64?

    /// Whether a state is named.
    var isGiven: Bool { at != nil || transaction != nil }

    func validate() throws {
        if at != nil, transaction != nil { throw ValidationError("--at and --transaction exclude each other.") }
        _ = try point()
    }

    /// The named state; the newest if none is.
    func point() throws -> RestorePoint {
        if let transaction { return .transaction(transaction) }
        guard let at else { return .newest }
        guard let nanoseconds = Self.nanoseconds(of: at) else {
            throw ValidationError("--at is a date and a time with a zone, such as 2026-11-27T20:40:00Z.")
        }
        return .time(nanoseconds: nanoseconds)
    }

    /// Opens the state of a store, or of a directory of backups.
    ///
    /// - Throws: `CommandFailure`.
    func open(_ path: String) throws -> OpenedStore {
        guard isGiven else { return try OpenedStore(path) }
        let disk = PosixDisk()
        let past: PastState
        do {
            let isStore = try disk.isPresent(path + "/" + FileName.identity)
            past =
                isStore
                ? try PastState(of: path, on: disk, at: try point())
                : try PastState(inBackups: path, on: disk, at: try point())
        } catch {
            throw CommandFailure.ofBackups(error)
        }
        return try OpenedStore(past.directory, on: past.disk, name: path)
    }

    /// The last nanosecond of a second, or the moment with its fraction.
    static func nanoseconds(of text: String) -> Int64? {
        let whole = Date.ISO8601FormatStyle()
        if let date = try? whole.parse(text) {
            return nanoseconds(Int64(exactly: date.timeIntervalSince1970.rounded()), each: 1_000_000_000)
        }
        guard let date = try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text) else { return nil }
        return nanoseconds(Int64(exactly: (date.timeIntervalSince1970 * 1_000).rounded()), each: 1_000_000)
    }

    /// The last nanosecond of a unit; nil for a moment after the year 2262.
    private static func nanoseconds(_ count: Int64?, each unit: Int64) -> Int64? {
        guard let (first, isOver) = count?.multipliedReportingOverflow(by: unit), !isOver else { return nil }
        let (last, isPast) = first.addingReportingOverflow(unit - 1)
        return isPast ? nil : last
    }
}
