import FaultlineTestSupport

/// The arguments of a proof that repeats rounds from a seed.
struct RoundArguments {
    private(set) var roundCount: Int
    private(set) var seed: UInt64 = 1
    private(set) var isCanary = false

    /// - Parameters:
    ///   - arguments: `--rounds`, `--seed` and `--canary`.
    ///   - roundCount: The rounds where none are said.
    /// - Throws: `WrongUsage` for another argument, or a number that is out of range.
    init(_ arguments: [String], roundCount: Int) throws {
        self.roundCount = roundCount
        var rest = arguments[...]
        while let word = rest.popFirst() {
            switch word {
            case "--canary": isCanary = true
            case "--rounds", "--seed":
                guard let text = rest.popFirst(), let number = UInt64(text), number > 0, number < 1 << 32 else {
                    throw WrongUsage(message: "\(word) needs a number above 0")
                }
                if word == "--seed" { seed = number } else { self.roundCount = Int(number) }
            default: throw WrongUsage(message: "unknown argument \(word)")
            }
        }
    }
}
