/// All ways in which the steps of two jobs can follow each other.
enum StepOrders {
    /// Steps of one job.
    static let stepCount = 8

    /// How many orders there are: (16 over 8).
    static let count = choose(2 * stepCount, stepCount)

    /// The order of a number below `count`: whose step comes, one entry a step.
    static func order(_ number: Int) -> [UInt8] {
        var rest = number
        var left = [stepCount, stepCount]
        return (0..<2 * stepCount).map { _ in
            // Orders that go on with the first job come first.
            let ofFirst = left[0] == 0 ? 0 : choose(left[0] + left[1] - 1, left[1])
            let owner = rest < ofFirst ? 0 : 1
            if owner == 1 { rest -= ofFirst }
            left[owner] -= 1
            return UInt8(owner)
        }
    }

    private static func choose(_ all: Int, _ part: Int) -> Int {
        (0..<part).reduce(1) { $0 * (all - $1) / ($1 + 1) }
    }
}
