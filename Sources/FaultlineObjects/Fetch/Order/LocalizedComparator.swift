public import Foundation

#if !canImport(Darwin)
/// Orders texts for people, in the current locale: the comparators that Foundation's own type has on Apple's platforms
/// only.
///
///     FetchDescriptor<Photo>(sortBy: [SortDescriptor(\.title, comparator: .localizedStandard)])
///
/// A fetch with such an order compares objects in memory.
public struct LocalizedComparator: Hashable, Sendable {
    private enum Order: Hashable { case standard, locale }

    private let order: Order

    /// As lists of files show names: case decides last, and digits count as numbers: "File 9", "file 10".
    public static let localizedStandard = LocalizedComparator(order: .standard)
    /// The order of the locale, with case and digits as letters.
    public static let localized = LocalizedComparator(order: .locale)

    /// Which of two texts comes first.
    ///
    /// - Parameters:
    ///   - left: A text.
    ///   - right: The text that it is compared with.
    /// - Returns: `orderedAscending` if the first text comes first.
    /// - Complexity: O(n) for n characters.
    public func compare(_ left: String, _ right: String) -> ComparisonResult {
        switch order {
        case .standard: left.localizedStandardCompare(right)
        case .locale: left.localizedCompare(right)
        }
    }
}
#endif
