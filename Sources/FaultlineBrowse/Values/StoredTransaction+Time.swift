import FaultlineStore

extension StoredTransaction {
    /// The time of the save, as dates are stored.
    var secondsSince2001: Double { Double(microseconds / 1_000) / 1_000 - 978_307_200 }
}
