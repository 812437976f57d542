import FaultlineDisk
import FaultlineTestSupport

/// A kind of disk that faults are tried on.
protocol FaultGround: AnyObject {
    /// One fault: which call, and how it fails.
    associatedtype Fault: Sendable & CustomStringConvertible

    /// The disk of an origin, and nothing armed.
    init(_ origin: FaultOriginStore, _ canary: FaultCanary?)

    /// What the store's code is given.
    var disk: Disk { get }
    var storePath: String { get }

    /// Counts calls; nothing fails.
    func beginCounting()
    /// Every fault of the calls counted; for a canary that is about some, only those.
    func faults(for canary: FaultCanary?) -> [Fault]
    func arm(_ fault: Fault)
    func disarm()
    /// Calls that failed since `arm`.
    var hitCount: Int { get }
    /// Handles and locks that are still held, as a sentence; nil if none are.
    var leak: String? { get }
    /// Disks that a power cut leaves behind now; none where that is not simulated.
    func cuts(seed: UInt64) -> [SimulatedDisk]
    /// The error that a fault makes calls report; nil if it is one that must not be noticed.
    static func errorNumber(of fault: Fault) -> Int32?
    /// Whether a power cut behind the fault is always tried, and not only now and then.
    static func isAboutSynchronizing(_ fault: Fault) -> Bool
}
