/// All orders of the steps of two jobs.
enum StepOrders {
    /// The number of steps in one job.
    static let stepCount = 8

    /// The number of orders, (16 over 8).
    static let count = choose(2 * stepCount, stepCount)

    /// Returns the order with the given number, as the job of each step.
    ///
    /// The number must be below `count`.
    static func order(_ number: Int) -> [UInt8] {
        var rest = number
        var left = [stepCount, stepCount]
        return (0..<2 * stepCount).map { _ in
            // Orders that continue with the first job have the lower numbers.
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
