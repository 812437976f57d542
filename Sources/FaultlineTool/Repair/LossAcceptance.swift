import FaultlineCommands
import FaultlineDisk
import FaultlineLog
import FaultlineStore

/// Opens a store whose log lacks transactions at its end, after recording which.
struct LossAcceptance {
    let store: String
    /// The path of the report; nil puts it beside the store.
    let reportPath: String?
    private let disk = PosixDisk()

    init(_ store: String, reportPath: String?) {
        self.store = store
        self.reportPath = reportPath
    }

    /// Looks for durable transactions that the log lacks, and writes nothing.
    ///
    /// - Returns: Nil if none is known to be missing.
    /// - Throws: A failure of status 3.
    func look() throws(CommandFailure) -> LostTail? {
        var options = LogOptions()
        options.access = .reading
        let log = try open(options)
        let tail = log.openReport.lostTail
        try CommandFailure.working { try log.close() }
        return tail.flatMap { $0.wasDurable ? $0 : nil }
    }

    /// Writes the report durably, and then accepts the store as it is.
    ///
    /// - Returns: The path of the report.
    func accept(_ tail: LostTail) throws(CommandFailure) -> String {
        let path = try writeReport(Self.line(of: tail, store))
        var options = LogOptions()
        options.maintenance = .manual
        let log = try open(options)
        try CommandFailure.working { try log.close() }
        return path
    }

    /// The report.
    static func line(of tail: LostTail, _ store: String) -> JSONLine {
        var witness = JSONLine()
        witness.add("transaction", Int(clamping: tail.witness.sequence))
        witness.add("path", tail.witness.path)
        witness.add("offset", Int(clamping: tail.witness.offset))
        var line = JSONLine()
        line.add("store", store)
        line.add("last_transaction_found", Int(clamping: tail.found))
        line.add("missing_transactions_at_least", Int(clamping: tail.count))
        line.add("path", tail.path)
        line.add("offset", Int(clamping: tail.offset))
        line.add("known_by", witness)
        return line
    }

    private func open(_ options: LogOptions) throws(CommandFailure) -> Log {
        var options = options
        options.acceptsLostTail = true
        return try CommandFailure.opening(store) {
            try Log.open(store, on: disk, clock: .system, options: options, deriver: RowIndexDeriver())
        }
    }

    private func writeReport(_ line: JSONLine) throws(CommandFailure) -> String {
        try CommandFailure.working {
            let (file, path) = try createReport()
            defer { file.close() }
            try Array((line.line + "\n").utf8).withUnsafeBytes { try file.write($0, at: 0) }
            try file.synchronize(site: .unnamed)
            try disk.synchronizeDirectory(Self.folder(of: path))
            return path
        }
    }

    /// Makes the report's file: never one that exists already.
    private func createReport() throws -> (file: DiskFile, path: String) {
        if let reportPath { return (try disk.open(reportPath, for: .creating), reportPath) }
        var base = store
        while base.count > 1, base.last == "/" { base.removeLast() }
        var number = 1
        while true {
            let path = "\(base).lost\(number == 1 ? "" : "-\(number)").json"
            do throws(DiskError) {
                return (try disk.open(path, for: .creating), path)
            } catch {
                guard error.code == .exists, number < 1_000 else { throw error }
                number += 1
            }
        }
    }

    /// The directory that holds a path.
    private static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
