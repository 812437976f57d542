/// The reports about the reads of a context, beside its counters.
package struct ReadReports {
    /// Reads of earlier uses of the context.
    var countedBefore = FaultCounters()
    /// How much was walked: shows what operations on large collections cost.
    package var walked = WalkCounts()
    /// The account that loads are entered in; nil for none.
    var accounting: FaultAccounting?
    /// Called with the way in which rows are found; nil except for `explain`.
    var accessNote: AccessNote?
}
