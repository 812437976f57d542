public import Faultline

/// The limits on the data that a piece of code may load.
///
/// No limit applies to a count that is nil.
public struct FaultBudget: Sendable, Equatable {
    /// The number of faults that fire, which are reads that the program waits for.
    public var faults: Int?
    /// The number of rows that are read, including neighbours that are read ahead.
    public var rows: Int?
    /// The number of bytes that are read from values outside of rows.
    public var blobBytes: Int?

    /// Makes a budget with the given limits.
    public init(faults: Int? = nil, rows: Int? = nil, blobBytes: Int? = nil) {
        self.faults = faults
        self.rows = rows
        self.blobBytes = blobBytes
    }

    /// Whether no limit is exceeded.
    public func allows(_ loaded: FaultCounters) -> Bool {
        loaded.faultsFired <= faults ?? .max && loaded.rowsRead <= rows ?? .max
            && loaded.blobBytesRead <= blobBytes ?? .max
    }
}

/// The error of code that loaded more than its budget.
public struct FaultBudgetError: Error, CustomStringConvertible {
    /// The budget.
    public let budget: FaultBudget
    /// The counts of the loads.
    public let loaded: FaultCounters
    /// The places that loaded the data, with remedies: `FaultAccount.report`.
    public let report: String

    /// The exceeded limits, and the report.
    public var description: String {
        func part(_ count: Int, _ limit: Int?, _ what: String) -> String? {
            limit.flatMap { count > $0 ? "\(count) \(what) where \($0) are allowed" : nil }
        }
        let parts = [
            part(loaded.faultsFired, budget.faults, "faults fired"),
            part(loaded.rowsRead, budget.rows, "rows were read"),
            part(loaded.blobBytesRead, budget.blobBytes, "bytes of values out of the row were read"),
        ]
        return parts.compactMap { $0 }.joined(separator: ", ") + ".\n" + report
    }
}

extension ModelContext {
    /// Runs code, and throws if this context loaded more than the budget in the meantime.
    ///
    ///     try context.loading(atMost: FaultBudget(faults: 3, blobBytes: 0)) { try showList(context) }
    ///
    /// Replaces the context's `faultAccount` during the call.
    ///
    /// - Throws: `FaultBudgetError`, with the places that loaded the data; the error of the code.
    /// - Complexity: That of the code; an entry of the account for each place that loads.
    public func loading<R>(atMost budget: FaultBudget, _ body: () throws -> R) throws -> R {
        let other = faultAccount
        let account = FaultAccount()
        faultAccount = account
        defer { faultAccount = other }
        let before = counters
        let result = try body()
        let loaded = counters - before
        guard budget.allows(loaded) else {
            throw FaultBudgetError(budget: budget, loaded: loaded, report: account.report)
        }
        return result
    }
}
