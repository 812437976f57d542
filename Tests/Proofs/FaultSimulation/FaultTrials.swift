/// The level at which faults are injected.
package enum FaultPlace: String, CaseIterable, Sendable {
    /// The calls of a simulated disk.
    case disk
    /// The system calls of real files.
    case system
}

/// All faults of one leg, numbered.
package struct FaultTrials {
    /// The number of faults.
    package let count: Int
    private let name: (Int) -> String
    private let trial: (Int) -> FaultOutcome

    /// - Parameters:
    ///
    ///   - leg: The steps.
    ///   - place: The level at which calls fail.
    ///   - seed: Makes other contents and other limits.
    ///   - canary: A rule to be broken.
    /// - Throws: `CrashViolation` if the leg does not work without faults.
    package init(_ leg: FaultLeg, in place: FaultPlace, seed: UInt64, canary: FaultCanary? = nil) throws {
        switch place {
        case .disk: self.init(try FaultSweep<SimulatedGround>(leg, seed: seed, canary))
        case .system: self.init(try FaultSweep<SystemGround>(leg, seed: seed, canary))
        }
    }

    private init<Ground: FaultGround>(_ sweep: FaultSweep<Ground>) {
        count = sweep.faults.count
        name = { sweep.faults[$0].description }
        trial = sweep.outcome(of:)
    }

    /// The fault of a number below `count`, for people.
    package func describe(_ number: Int) -> String { name(number) }

    /// Injects a fault.
    package func outcome(of number: Int) -> FaultOutcome { trial(number) }
}
