/// A rule that is broken on purpose, between the store's code and the disk: the sweep must detect each.
package enum FaultCanary: String, CaseIterable, Sendable {
    /// A synchronization that failed is repeated, and the result is trusted.
    case retriesSynchronizing
    /// A synchronization returns before anything is durable.
    case acknowledgesEarly
    /// A write that failed counts as done.
    case hidesFailedWrites
    /// Files stay open.
    case leaksHandles
    /// Every error becomes a device error.
    case bluntsErrors
    /// Errors name no file.
    case forgetsPaths
    /// A short write counts as whole. Of system calls only.
    case claimsShortWrites

    /// Whether system calls break the rule.
    package var isOfSystemCalls: Bool { self == .claimsShortWrites }
}
