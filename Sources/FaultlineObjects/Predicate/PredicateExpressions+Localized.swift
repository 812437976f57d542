public import Foundation

// Nodes for calls in `#Predicate` that Foundation has on Apple's platforms and not on Linux. They are evaluated on the
// objects that the rest of the predicate selects.

#if !canImport(Darwin)
extension PredicateExpressions {
    /// Whether text contains other text as in a search: ignores case and diacritics.
    public struct StringLocalizedStandardContains<Root: PredicateExpression, Other: PredicateExpression>:
        PredicateExpression
    where Root.Output: StringProtocol, Other.Output: StringProtocol {
        /// True or false.
        public typealias Output = Bool

        /// The text that is searched.
        public let root: Root
        /// The text that is looked for.
        public let other: Other

        /// Makes the node of a search for `other` in `root`.
        public init(root: Root, other: Other) {
            self.root = root
            self.other = other
        }

        /// Searches.
        ///
        /// - Throws: The errors of both operands.
        /// - Complexity: O(n) for n characters.
        public func evaluate(_ bindings: PredicateBindings) throws -> Bool {
            try root.evaluate(bindings).localizedStandardContains(other.evaluate(bindings))
        }
    }

    /// The order of two texts in the current locale.
    public struct StringLocalizedCompare<Root: PredicateExpression, Other: PredicateExpression>:
        PredicateExpression
    where Root.Output: StringProtocol, Other.Output: StringProtocol {
        /// The text that comes first.
        public typealias Output = ComparisonResult

        /// The text that is compared.
        public let root: Root
        /// The text that it is compared with.
        public let other: Other

        /// Makes the node of a comparison of `root` with `other`.
        public init(root: Root, other: Other) {
            self.root = root
            self.other = other
        }

        /// Compares.
        ///
        /// - Throws: The errors of both operands.
        /// - Complexity: O(n) for n characters.
        public func evaluate(_ bindings: PredicateBindings) throws -> ComparisonResult {
            try root.evaluate(bindings).localizedCompare(other.evaluate(bindings))
        }
    }

    /// The order of two texts, ignoring case.
    public struct StringCaseInsensitiveCompare<Root: PredicateExpression, Other: PredicateExpression>:
        PredicateExpression
    where Root.Output: StringProtocol, Other.Output: StringProtocol {
        /// Which of both comes first.
        public typealias Output = ComparisonResult

        /// The text that is compared.
        public let root: Root
        /// The text that it is compared with.
        public let other: Other

        /// Makes the node of a comparison of `root` with `other`.
        public init(root: Root, other: Other) {
            self.root = root
            self.other = other
        }

        /// Compares.
        ///
        /// - Throws: The errors of both operands.
        /// - Complexity: O(n) for n characters.
        public func evaluate(_ bindings: PredicateBindings) throws -> ComparisonResult {
            try root.evaluate(bindings).caseInsensitiveCompare(other.evaluate(bindings))
        }
    }

    /// Makes the node for `text.localizedStandardContains(other)` in `#Predicate`.
    public static func build_localizedStandardContains<Root, Other>(
        _ root: Root, _ other: Other
    ) -> StringLocalizedStandardContains<Root, Other> {
        StringLocalizedStandardContains(root: root, other: other)
    }

    /// Makes the node for `text.localizedCompare(other)` in `#Predicate`.
    public static func build_localizedCompare<Root, Other>(
        _ root: Root, _ other: Other
    ) -> StringLocalizedCompare<Root, Other> {
        StringLocalizedCompare(root: root, other: other)
    }

    /// Makes the node for `text.caseInsensitiveCompare(other)` in `#Predicate`.
    public static func build_caseInsensitiveCompare<Root, Other>(
        _ root: Root, _ other: Other
    ) -> StringCaseInsensitiveCompare<Root, Other> {
        StringCaseInsensitiveCompare(root: root, other: other)
    }
}

extension PredicateExpressions.StringLocalizedStandardContains: Sendable where Root: Sendable, Other: Sendable {}
extension PredicateExpressions.StringLocalizedCompare: Sendable where Root: Sendable, Other: Sendable {}
extension PredicateExpressions.StringCaseInsensitiveCompare: Sendable where Root: Sendable, Other: Sendable {}

extension PredicateExpressions.StringLocalizedStandardContains: Codable where Root: Codable, Other: Codable {}
extension PredicateExpressions.StringLocalizedCompare: Codable where Root: Codable, Other: Codable {}
extension PredicateExpressions.StringCaseInsensitiveCompare: Codable where Root: Codable, Other: Codable {}

extension PredicateExpressions.StringLocalizedStandardContains: StandardPredicateExpression
where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}
extension PredicateExpressions.StringLocalizedCompare: StandardPredicateExpression
where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}
extension PredicateExpressions.StringCaseInsensitiveCompare: StandardPredicateExpression
where Root: StandardPredicateExpression, Other: StandardPredicateExpression {}
#endif
