/// The size of a function, initializer or subscript with a body.
struct SwiftFunction: Equatable {
    /// The name with its labels, as in `move(_:to:)`.
    let name: String
    /// The number of lines from the keyword to the closing brace.
    let lineCount: Int
    let parameterCount: Int
}

extension SwiftFunction {
    /// The functions of a text, in order.
    static func all(in text: SwiftText) -> [SwiftFunction] {
        var reader = FunctionReader(code: Array(text.code.joined(separator: "\n").utf8))
        return reader.read()
    }
}

/// Finds functions in code with blanked comments and literals.
///
/// It matches brackets instead of parsing.
private struct FunctionReader {
    let code: [UInt8]
    private var functions: [SwiftFunction] = []

    private static let endOfRequirement: Set<String> = [
        "func", "init", "subscript", "var", "let", "static", "associatedtype", "mutating", "nonmutating", "public",
        "package", "internal", "private", "case", "struct", "class", "enum", "extension", "override",
    ]

    init(code: [UInt8]) { self.code = code }

    mutating func read() -> [SwiftFunction] {
        var place = 0
        while let word = nextWord(from: place) {
            place = word.upperBound
            let keyword = text(word)
            guard keyword == "func" || keyword == "init" || keyword == "subscript" else { continue }
            guard word.lowerBound == 0 || code[word.lowerBound - 1] != UInt8(ascii: ".") else { continue }
            guard let open = parenthesis(after: place), let close = closing(open) else { continue }
            guard let brace = body(after: close), let end = closing(brace) else { continue }
            let labels = labels(in: code[(open + 1)..<close])
            let name = keyword == "func" ? trimmedName(code[place..<open]) : keyword
            functions.append(
                SwiftFunction(
                    name: "\(name)(\(labels.map { $0 + ":" }.joined()))",
                    lineCount: code[word.lowerBound...end].count { $0 == UInt8(ascii: "\n") } + 1,
                    parameterCount: labels.count
                )
            )
        }
        return functions
    }

    private func text(_ range: Range<Int>) -> String { String(decoding: code[range], as: UTF8.self) }

    private func isWordByte(_ byte: UInt8) -> Bool {
        let lower = byte | 0x20
        return lower >= UInt8(ascii: "a") && lower <= UInt8(ascii: "z") || byte == UInt8(ascii: "_") || byte >= 0x80
            || byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
    }

    private func nextWord(from start: Int) -> Range<Int>? {
        guard let first = code[start...].firstIndex(where: isWordByte) else { return nil }
        return first..<(code[first...].firstIndex { !isWordByte($0) } ?? code.count)
    }

    /// Returns the name of a function without generic parameters and whitespace.
    private func trimmedName(_ bytes: ArraySlice<UInt8>) -> String {
        let name = String(decoding: bytes, as: UTF8.self).trimmed
        guard name.first?.isLetter == true || name.first == "_" else { return name }
        return String(name.prefix { $0 != "<" }).trimmed
    }

    /// Returns the opening parenthesis of the parameters, which must follow the name and the generic parameters.
    private func parenthesis(after start: Int) -> Int? {
        let open = code[start...].firstIndex { [UInt8(ascii: "("), UInt8(ascii: "{"), UInt8(ascii: "}")].contains($0) }
        guard let open, code[open] == UInt8(ascii: "("), open - start < 1_000 else { return nil }
        return open
    }

    /// Returns the bracket that closes the one at `open`.
    private func closing(_ open: Int) -> Int? {
        var depth = 0
        for place in open..<code.count {
            switch code[place] {
            case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"):
                depth -= 1
                if depth == 0 { return place }
            default: break
            }
        }
        return nil
    }

    /// Returns the opening brace of the body after the parameters, or `nil` for a protocol requirement.
    private func body(after close: Int) -> Int? {
        var place = close + 1
        while place < code.count {
            switch code[place] {
            case UInt8(ascii: "{"): return place
            case UInt8(ascii: "}"): return nil
            case UInt8(ascii: "("), UInt8(ascii: "["):
                guard let end = closing(place) else { return nil }
                place = end + 1
            case let byte where isWordByte(byte):
                let end = code[place...].firstIndex { !isWordByte($0) } ?? code.count
                if Self.endOfRequirement.contains(text(place..<end)) { return nil }
                place = end
            default: place += 1
            }
        }
        return nil
    }

    /// Returns the labels of the parameters.
    private func labels(in parameters: ArraySlice<UInt8>) -> [String] {
        var labels: [String] = []
        var depth = 0
        var start = parameters.startIndex
        for place in parameters.indices {
            let before = place > parameters.startIndex ? parameters[place - 1] : UInt8(ascii: " ")
            switch parameters[place] {
            case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
            case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
            // These brackets enclose generic arguments. Comparison operators have spaces around them.
            case UInt8(ascii: "<") where isWordByte(before): depth += 1
            case UInt8(ascii: ">") where before != UInt8(ascii: "-") && before != UInt8(ascii: " "): depth -= 1
            case UInt8(ascii: ",") where depth == 0:
                if let label = label(parameters[start..<place]) { labels.append(label) }
                start = place + 1
            default: break
            }
        }
        if let label = label(parameters[start...]) { labels.append(label) }
        return labels
    }

    private func label(_ parameter: ArraySlice<UInt8>) -> String? {
        let words = String(decoding: parameter, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        guard let word = words.first(where: { !$0.hasPrefix("@") }) else { return nil }
        return String(word.prefix { $0 != ":" })
    }
}
