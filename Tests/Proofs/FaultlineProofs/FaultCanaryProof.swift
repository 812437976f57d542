import FaultSimulation
import FaultlineTestSupport

/// Breaks one rule after another; each must be detected.
struct FaultCanaryProof {
    func run() throws -> Int32 {
        var injected = 0
        var caught = 0
        for canary in FaultCanary.allCases {
            if let (place, what) = try catchIt(canary, &injected) {
                caught += 1
                ProofShell.note("\(canary): caught by \(place): \(what)")
            } else {
                ProofShell.note("\(canary): not caught")
            }
        }
        print(
            """
            {"injected":\(injected),"violations":\(caught),"canaries":\(FaultCanary.allCases.count),"caught":\(caught)}
            """)
        return caught == FaultCanary.allCases.count ? 0 : 1
    }

    /// The first fault that shows a broken rule.
    private func catchIt(_ canary: FaultCanary, _ injected: inout Int) throws -> (place: String, what: String)? {
        let place = canary.isOfSystemCalls ? FaultPlace.system : .disk
        for leg in FaultLeg.all {
            let trials = try FaultTrials(leg, in: place, seed: 1, canary: canary)
            for number in 0..<trials.count {
                let outcome = trials.outcome(of: number)
                if outcome != .notMet { injected += 1 }
                if case .violated(let what) = outcome {
                    return ("\(place) '\(leg.name)' 1 \(number) (\(trials.describe(number)))", what)
                }
            }
        }
        return nil
    }
}
