import CrashSimulation
import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Glibc

/// The result of one fault.
package enum FaultOutcome: Equatable, Sendable {
    /// The call was not made, which happens if threads race.
    case notMet
    /// Every promise was kept; with the operations that the errors named.
    case kept(doing: Set<String>)
    case violated(String)
}

/// All faults of one leg on one kind of disk.
struct FaultSweep<Ground: FaultGround> {
    private let leg: FaultLeg
    private let seed: UInt64
    private let canary: FaultCanary?
    private let options: LogOptions
    private let origin: FaultOriginStore
    /// Every call of the leg, with every way to fail.
    let faults: [Ground.Fault]

    /// Runs the leg without faults, to record its calls.
    ///
    /// - Throws: `CrashViolation` if the leg does not work without faults.
    init(_ leg: FaultLeg, seed: UInt64, _ canary: FaultCanary?) throws {
        self.leg = leg
        self.seed = seed
        self.canary = canary
        var options = LogOptions.forFaults(seed: seed)
        options.retention = leg.window
        self.options = options
        origin = try FaultOriginStore(leg.origin, options, seed: seed)
        let ground = Ground(origin, nil)
        let life = FaultLife(ground.storePath, on: ground.disk, options, origin.promises, seed: seed)
        ground.beginCounting()
        life.run(leg.steps)
        faults = ground.faults(for: canary)
        life.letGo()
        if let (step, error) = life.errors.first { throw CrashViolation("\(leg.name), \(step): \(error)") }
        if let error = life.pastErrors.first { throw CrashViolation("\(leg.name), in the past: \(error)") }
        if let violation = life.violation ?? ground.leak { throw CrashViolation("\(leg.name): \(violation)") }
    }

    /// Runs the leg with one fault, continues with the same handle, then opens the store again.
    func outcome(of number: Int) -> FaultOutcome {
        let fault = faults[number]
        let ground = Ground(origin, canary)
        let life = FaultLife(ground.storePath, on: ground.disk, options, origin.promises, seed: seed)
        ground.arm(fault)
        life.run(leg.steps.dropLast())
        if ground.hitCount > 0 {
            ground.disarm()
            if let objection = goOn(life) { return .violated(objection) }
        }
        let cuts = isCutTried(number) ? ground.cuts(seed: UInt64(number)) : []
        let promisesAtCut = life.promises
        life.run(leg.steps.suffix(1))
        ground.disarm()
        guard ground.hitCount > 0 else {
            life.letGo()
            return .notMet
        }
        let errors = life.errors
        life.letGo()
        if let violation = life.violation { return .violated(violation) }
        let check = FaultErrorCheck(storePath: ground.storePath, errorNumber: Ground.errorNumber(of: fault))
        for (step, error) in errors {
            if let objection = check.objection(to: error) { return .violated("\(step): \(objection)") }
        }
        for error in life.pastErrors {
            if let objection = check.objection(to: error) { return .violated("in the past: \(objection)") }
        }
        if let leak = ground.leak { return .violated(leak) }
        let past = pastCheck(number, hasError: !life.pastErrors.isEmpty)
        if let objection = recovery(ground, life.promises, past).objection(on: ground.disk, afterPowerLoss: false) {
            return .violated(objection)
        }
        for cut in cuts {
            if let objection = recovery(ground, promisesAtCut, past).objection(on: cut, afterPowerLoss: true) {
                return .violated("after a power cut: \(objection)")
            }
        }
        if let leak = ground.leak { return .violated("after opening again: \(leak)") }
        return .kept(doing: Set((errors.map(\.error) + life.pastErrors).compactMap { Self.doing($0) }))
    }

    private func isCutTried(_ number: Int) -> Bool {
        Ground.isAboutSynchronizing(faults[number]) || number % 4 == 0
    }

    /// The demands on states of the past after a fault; an error, and a full disk, may end the window.
    private func pastCheck(_ number: Int, hasError: Bool) -> FaultRecoveryCheck.Past? {
        guard leg.mayHavePast else { return nil }
        let errorNumber = Ground.errorNumber(of: faults[number])
        let isFull = errorNumber == ENOSPC || errorNumber == EDQUOT
        return FaultRecoveryCheck.Past(random: Seed(UInt64(number)), isRequired: leg.keepsPast && !hasError && !isFull)
    }

    private func recovery(
        _ ground: Ground, _ promises: FaultPromises, _ past: FaultRecoveryCheck.Past?
    ) -> FaultRecoveryCheck {
        FaultRecoveryCheck(
            storePath: ground.storePath, options: options, promises: promises, isRotten: origin.isRotten, past: past)
    }

    /// Continues on a working disk: the handle that met the fault reads everything acknowledged, and either accepts
    /// commits or reports why not.
    private func goOn(_ life: FaultLife) -> String? {
        guard let log = life.log else { return nil }
        let before = life.errors.count
        life.take(.read)
        if let (_, error) = life.errors.dropFirst(before).first { return "the handle does not read: \(error)" }
        guard !leg.steps.contains(.openForReading) else { return nil }
        let isPoisoned = log.failure != nil
        life.take(.commit(changeCount: 3))
        let failure = life.errors.dropFirst(before).first?.error as? LogError
        if isPoisoned, failure?.code != .poisoned { return "a poisoned store takes commits" }
        if !isPoisoned, let failure { return "the handle does not write: \(failure)" }
        life.take(.read)
        return nil
    }

    /// The operation of the log that failed, from the error.
    private static func doing(_ error: any Error) -> String? {
        guard let message = (error as? LogError)?.message, let start = message.firstRange(of: "The disk failed while "),
            let end = message[start.upperBound...].firstRange(of: ". ")
        else { return nil }
        return String(message[start.upperBound..<end.lowerBound])
    }
}
