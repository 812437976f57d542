import FaultlineDisk
import FaultlineTestSupport
import Glibc

/// The simulated disk: every call of `Disk` and `DiskFile`, half-written bytes, failed synchronizations that lose pages,
/// and power cuts.
final class SimulatedGround: FaultGround {
    struct Fault: Sendable, CustomStringConvertible {
        let ordinal: Int
        let operation: DiskOperation
        let errorNumber: Int32
        let isSticky: Bool
        let effect: DiskFault.Effect

        var description: String {
            "call \(ordinal) (\(operation)), errno \(errorNumber), \(isSticky ? "from then on" : "once"), \(effect)"
        }
    }

    private let base: SimulatedDisk
    private let failing: FailingDisk
    private let counted = CountedOperations()
    private let acknowledgesDurable: Bool
    let disk: Disk
    var storePath: String { FaultOriginStore.path }

    /// The operations of a run.
    // Safe because the array is guarded by the lock.
    private final class CountedOperations: @unchecked Sendable {
        private let guardian = EngineLock()
        private var operations: [DiskOperation] = []

        var all: [DiskOperation] { guardian.withLock { operations } }
        func add(_ operation: DiskOperation) { guardian.withLock { operations.append(operation) } }
    }

    init(_ origin: FaultOriginStore, _ canary: FaultCanary?) {
        base = origin.disk.afterProcessDeath()
        acknowledgesDurable = origin.promises.acknowledgesDurable
        let failing = FailingDisk(over: base)
        self.failing = failing
        disk = canary.map { BrokenDisk(over: failing, $0) } ?? failing
    }

    func beginCounting() {
        failing.arm(
            DiskFault(ordinal: .max) { [counted] operation in
                counted.add(operation)
                return true
            })
    }

    func faults(for canary: FaultCanary?) -> [Fault] {
        failing.disarm()
        return counted.all.enumerated().flatMap { ordinal, operation in
            ways(operation.kind).flatMap { errorNumber, effect in
                [false, true].map { isSticky in
                    Fault(
                        ordinal: ordinal, operation: operation, errorNumber: errorNumber, isSticky: isSticky,
                        effect: effect)
                }
            }
        }
    }

    /// The ways in which an operation may fail.
    private func ways(_ kind: DiskOperation.Kind) -> [(Int32, DiskFault.Effect)] {
        var ways: [(Int32, DiskFault.Effect)] = [EIO, ENOSPC, EDQUOT, EMFILE].map { ($0, .none) }
        switch kind {
        case .write:
            ways += [
                (EIO, .takesPlace), (EIO, .writesShare(128)), (ENOSPC, .writesFirst(byteCount: 1)),
                (ENOSPC, .writesShare(128)), (EDQUOT, .writesShare(250)),
            ]
        case .synchronize:
            ways.append((EIO, .takesPlace))
            // Pages without a promise of durability may be lost while the system continues.
            let losses = acknowledgesDurable ? PageLoss.allCases : [.keepsNewBytes]
            for loss in losses {
                ways += [(EIO, .losesPages(loss, seed: nil)), (ENOSPC, .losesPages(loss, seed: 5))]
            }
        case .create, .createDirectory, .remove, .rename, .synchronizeDirectory: ways.append((EIO, .takesPlace))
        default: break
        }
        return ways
    }

    func arm(_ fault: Fault) {
        failing.arm(
            DiskFault(
                ordinal: fault.ordinal, errorNumber: fault.errorNumber, isSticky: fault.isSticky, effect: fault.effect))
    }

    func disarm() { failing.disarm() }

    var hitCount: Int { failing.hitCount }

    var leak: String? {
        base.openHandleCount == 0 && base.lockCount == 0
            ? nil : "\(base.openHandleCount) handles and \(base.lockCount) locks are still held"
    }

    func cuts(seed: UInt64) -> [SimulatedDisk] {
        var options = CrashOptions()
        options.exhaustiveItemMax = 0
        options.seed = seed
        var images = base.crashImages(options)
        let harshest = images.next()?.disk
        for _ in 0..<seed % 7 { _ = images.next() }
        return [harshest, images.next()?.disk].compactMap { $0 }
    }

    static func errorNumber(of fault: Fault) -> Int32? { fault.errorNumber }

    static func isAboutSynchronizing(_ fault: Fault) -> Bool {
        fault.operation.kind == .synchronize || fault.operation.kind == .synchronizeDirectory
    }
}
