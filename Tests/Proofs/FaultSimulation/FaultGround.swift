import FaultlineDisk
import FaultlineTestSupport

/// A kind of disk to inject faults into.
protocol FaultGround: AnyObject {
    /// One fault: the call, and its way to fail.
    associatedtype Fault: Sendable & CustomStringConvertible

    /// The disk of an origin, without a fault.
    init(_ origin: FaultOriginStore, _ canary: FaultCanary?)

    /// The disk for the store's code.
    var disk: Disk { get }
    var storePath: String { get }

    /// Counts calls; nothing fails.
    func beginCounting()
    /// Every fault of the counted calls; for a canary of certain calls, only those.
    func faults(for canary: FaultCanary?) -> [Fault]
    func arm(_ fault: Fault)
    func disarm()
    /// Calls that failed since `arm`.
    var hitCount: Int { get }
    /// A sentence about handles and locks that are still held; nil if there are none.
    var leak: String? { get }
    /// Disks that a power cut leaves at this point; none if that is not simulated.
    func cuts(seed: UInt64) -> [SimulatedDisk]
    /// The error that a fault gives to calls; nil if the store must not report it.
    static func errorNumber(of fault: Fault) -> Int32?
    /// Whether a power cut after the fault is always tried, not only sometimes.
    static func isAboutSynchronizing(_ fault: Fault) -> Bool
}
