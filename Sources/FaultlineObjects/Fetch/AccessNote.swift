internal import FaultlineStore

/// Collects how rows are found, for `explain`.
final class AccessNote {
    var index: SecondaryIndex?
    var isOrdered = false
}
