internal import Foundation

extension Filter {
    /// Differences between two texts that are ignored.
    public struct TextOptions: OptionSet, Sendable {
        /// One bit for each member.
        public let rawValue: Int

        /// Makes a set of the bits of its members.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Upper and lower case are the same.
        public static let ignoringCase = TextOptions(rawValue: 1)
        /// Letters are the same with accents and without.
        public static let ignoringDiacritics = TextOptions(rawValue: 2)
    }
}

/// A condition on text that the stored bytes cannot answer, because they are not in the form that is compared.
struct TextTest: Sendable {
    enum Part: Sendable { case whole, inside, beginning, end }

    private let part: Part
    private let text: String
    private let options: Filter.TextOptions

    init(_ part: Part, _ text: String, _ options: Filter.TextOptions) {
        self.part = part
        self.options = options
        self.text = Self.folded(text, options)
    }

    func isTrue(of value: String) -> Bool {
        let value = Self.folded(value, options)
        switch part {
        case .whole: return value == text
        case .inside: return text.isEmpty || value.contains(text)
        case .beginning: return value.starts(with: text)
        case .end: return value.reversed().starts(with: text.reversed())
        }
    }

    /// Independent of the user's language.
    private static func folded(_ text: String, _ options: Filter.TextOptions) -> String {
        if options.isEmpty { return text }
        var compared: String.CompareOptions = []
        if options.contains(.ignoringCase) { compared.insert(.caseInsensitive) }
        if options.contains(.ignoringDiacritics) { compared.insert(.diacriticInsensitive) }
        return text.folding(options: compared, locale: nil)
    }
}
