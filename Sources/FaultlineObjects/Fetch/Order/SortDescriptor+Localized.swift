public import Foundation

#if !canImport(Darwin)
// Foundation's sort descriptors for Linux keep a key path to a value that is `Comparable`, and no comparator of others. So
// the key path goes on to a value that is compared as the comparator does it.

extension SortDescriptor {
    /// Orders by a text as people expect it.
    ///
    ///     SortDescriptor(\Photo.title, comparator: .localizedStandard)
    ///
    /// - Parameters:
    ///   - keyPath: The text.
    ///   - comparator: The order of texts.
    ///   - order: Whether the first text comes first.
    /// - Complexity: O(1).
    public init(
        _ keyPath: any KeyPath<Compared, String> & Sendable, comparator: LocalizedComparator,
        order: SortOrder = .forward
    ) {
        self =
            comparator == .localized
            ? SortDescriptor(Self.sendable(keyPath.appending(path: \.inLocaleOrder)), order: order)
            : SortDescriptor(Self.sendable(keyPath.appending(path: \.inStandardOrder)), order: order)
    }

    /// Orders by a text as people expect it; nil comes first.
    ///
    ///     SortDescriptor(\Photo.caption, comparator: .localized)
    ///
    /// - Parameters:
    ///   - keyPath: The text, or nil.
    ///   - comparator: The order of texts.
    ///   - order: Whether the first text comes first.
    /// - Complexity: O(1).
    public init(
        _ keyPath: any KeyPath<Compared, String?> & Sendable, comparator: LocalizedComparator,
        order: SortOrder = .forward
    ) {
        self =
            comparator == .localized
            ? SortDescriptor(Self.sendable(keyPath.appending(path: \.inLocaleOrder)), order: order)
            : SortDescriptor(Self.sendable(keyPath.appending(path: \.inStandardOrder)), order: order)
    }

    private static func sendable<V>(_ path: KeyPath<Compared, V>) -> any KeyPath<Compared, V> & Sendable {
        // Safe because both parts of the path can be sent, and a path has no other state.
        unsafeBitCast(path, to: (any KeyPath<Compared, V> & Sendable).self)
    }
}

/// A text with the order of a comparator.
struct LocalizedText: Comparable {
    let text: String
    let comparator: LocalizedComparator

    static func < (left: LocalizedText, right: LocalizedText) -> Bool {
        left.comparator.compare(left.text, right.text) == .orderedAscending
    }

    static func == (left: LocalizedText, right: LocalizedText) -> Bool {
        left.comparator.compare(left.text, right.text) == .orderedSame
    }
}

extension String {
    fileprivate var inStandardOrder: LocalizedText { LocalizedText(text: self, comparator: .localizedStandard) }
    fileprivate var inLocaleOrder: LocalizedText { LocalizedText(text: self, comparator: .localized) }
}

extension String? {
    fileprivate var inStandardOrder: LocalizedText? { map(\.inStandardOrder) }
    fileprivate var inLocaleOrder: LocalizedText? { map(\.inLocaleOrder) }
}
#endif
