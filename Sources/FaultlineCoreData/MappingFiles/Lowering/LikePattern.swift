internal import Foundation

/// A pattern of `LIKE`: `*` stands for any text, `?` for one character, and a backslash makes a sign stand for itself.
struct LikePattern: Sendable {
    private enum Part: Equatable {
        case any
        case one
        case character(Character)
    }

    private let parts: [Part]
    private let options: String.CompareOptions

    init(_ text: String, ignoresCase: Bool, ignoresDiacritics: Bool) {
        var options: String.CompareOptions = []
        if ignoresCase { options.insert(.caseInsensitive) }
        if ignoresDiacritics { options.insert(.diacriticInsensitive) }
        self.options = options
        var parts: [Part] = []
        var isEscaped = false
        for character in Self.folded(text, options) {
            switch character {
            case "\\" where !isEscaped:
                isEscaped = true
                continue
            case "*" where !isEscaped: parts.append(.any)
            case "?" where !isEscaped: parts.append(.one)
            default: parts.append(.character(character))
            }
            isEscaped = false
        }
        self.parts = parts
    }

    private static func folded(_ text: String, _ options: String.CompareOptions) -> String {
        options.isEmpty ? text : text.folding(options: options, locale: nil)
    }

    /// Whether the whole text matches.
    ///
    /// A mismatch goes back to the last `*` only, so the work is at most the product of both lengths.
    func matches(_ text: String) -> Bool {
        let characters = Array(Self.folded(text, options))
        var (position, part) = (0, 0)
        // The part after the last `*`, and the position where the text that it stands for ends.
        var last: (part: Int, position: Int)?
        while position < characters.count {
            if part < parts.count, parts[part] == .any {
                part += 1
                last = (part, position)
            } else if part < parts.count, parts[part] == .one || parts[part] == .character(characters[position]) {
                part += 1
                position += 1
            } else if let star = last {
                last = (star.part, star.position + 1)
                (part, position) = (star.part, star.position + 1)
            } else {
                return false
            }
        }
        return parts[part...].allSatisfy { $0 == .any }
    }
}
