/// Bounds the work on an archive, whose objects may be parts of each other in any number and depth.
///
/// Each look at a part takes from it. Once it is used up, all objects look empty, so that every reader comes to its end.
final class ReadingBudget {
    private static let lookMax = 2_000_000
    private var left = ReadingBudget.lookMax

    var isUsedUp: Bool { left == 0 }

    /// Takes a number of looks; false if there are not so many left.
    func take(_ count: Int) -> Bool {
        left = max(left - count, 0)
        return left > 0
    }
}
