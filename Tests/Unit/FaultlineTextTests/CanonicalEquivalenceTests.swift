import FaultlineTestSupport
import FaultlineText
import Foundation
import Testing

/// Texts that are written in other forms have the same terms.
@Suite struct CanonicalEquivalenceTests {
    private let analyzer = TextAnalyzer()

    private func terms(_ text: String) -> [String] { analyzer.terms(text).map(\.term) }

    /// Letters and marks of eight scripts.
    private static let scripts: [[ClosedRange<UInt32>]] = [
        [0x41...0x5A, 0xC0...0x17F, 0x1E00...0x1EF9, 0x300...0x308], [0x386...0x3CE, 0x1F00...0x1F15, 0x300...0x301],
        [0x400...0x45F, 0x300...0x308], [0x5D0...0x5EA, 0x5B0...0x5BC], [0x621...0x64A, 0x64B...0x655, 0x660...0x669],
        [0x904...0x939, 0x93C...0x94D, 0x951...0x952],
        [0x3041...0x3096, 0x30A1...0x30FA, 0x3099...0x309A, 0xFF66...0xFF9F],
        [0xAC00...0xAC80, 0x1100...0x1112, 0x1161...0x1175, 0x11A8...0x11C2], [0x0E01...0x0E3A, 0x0E40...0x0E4D],
        [0x4E00...0x4E20, 0xF900...0xF920],
    ]

    private func text(_ random: inout Seed, _ script: [ClosedRange<UInt32>]) -> String {
        var text = String.UnicodeScalarView()
        for _ in 0..<random.below(12) {
            let range = random.pick(script)
            let value = range.lowerBound + UInt32(random.below(Int(range.upperBound - range.lowerBound) + 1))
            if let scalar = Unicode.Scalar(value), scalar.properties.generalCategory != .unassigned {
                text.append(scalar)
            }
            if random.oneIn(6) { text.append(random.oneIn(2) ? " " : ".") }
        }
        return String(text)
    }

    @Test(arguments: Seed.list(20, unoptimized: 2)) func `composed and decomposed texts have the same terms`(seed: Seed)
    {
        var random = seed
        for _ in 0..<500 {
            for script in Self.scripts {
                let text = text(&random, script)
                let expected = terms(text)
                let scalars = text.unicodeScalars.map { String($0.value, radix: 16) }
                #expect(terms(text.decomposedStringWithCanonicalMapping) == expected, "\(scalars) \(seed.replayLine)")
                #expect(terms(text.precomposedStringWithCanonicalMapping) == expected, "\(scalars) \(seed.replayLine)")
            }
        }
    }

    @Test func `each scalar has the terms of its decomposition, in either case`() {
        var count = 0
        for value in UInt32(0x21)...0x2FA1D {
            guard let scalar = Unicode.Scalar(value), scalar.properties.isDefined(before: 16),
                scalar.properties.generalCategory != .privateUse
            else { continue }
            let text = String(Character(scalar))
            let expected = terms(text)
            count += expected.count
            let decomposed = text.decomposedStringWithCanonicalMapping
            if !decomposed.unicodeScalars.elementsEqual(text.unicodeScalars) {
                #expect(terms(decomposed) == expected, "\(String(value, radix: 16))")
            }
            let lower = scalar.properties.lowercaseMapping
            if lower != text { #expect(terms(lower) == expected, "lower case of \(String(value, radix: 16))") }
            // A mark alone is no word.
            for term in expected where term.unicodeScalars.count == 1 && !term.unicodeScalars[term.startIndex].isMark {
                #expect(terms(term) == [term], "\(String(value, radix: 16)) is folded twice")
            }
        }
        #expect(count > 130_000)
    }

    @Test(arguments: Seed.list(20, unoptimized: 2)) func `words of ASCII are those of a plain reading`(seed: Seed) {
        var random = seed
        let pieces = Array("abzAZ019 .,;:'_-/x1").map(String.init)
        for _ in 0..<1_000 {
            let text = (0..<random.below(24)).map { _ in random.pick(pieces) }.joined()
            #expect(terms(text) == Self.plainTerms(text), "\(text.debugDescription) \(seed.replayLine)")
            // A letter beyond ASCII at the end lets the last segment be read by the rules of Unicode.
            let longer = terms(text.replacing("x", with: "я"))
            #expect(longer == Self.plainTerms(text).map { $0.replacing("x", with: "я") }, "\(text.debugDescription)")
        }
    }

    /// Words of letters and digits, with separators between two digits.
    private static func plainTerms(_ text: String) -> [String] {
        let characters = Array(text.lowercased())
        var words: [String] = []
        var word = ""
        for (index, character) in characters.enumerated() {
            let isBetweenDigits =
                index > 0 && index + 1 < characters.count && characters[index - 1].isNumber
                && characters[index + 1].isNumber
            if character.isLetter || character.isNumber || isBetweenDigits && ".,;'".contains(character) {
                word.append(character)
            } else {
                words.append(word)
                word = ""
            }
        }
        words.append(word)
        return words.filter { !$0.isEmpty }.map { word in
            guard let groups = word.prefixMatch(of: /[0-9]{1,3}(?:(?:,[0-9]{3})+|(?:'[0-9]{3})+)(?![0-9])/) else {
                return word
            }
            let rest = word[groups.range.upperBound...]
            guard !rest.hasPrefix("'"), !(rest.hasPrefix(",") && groups.output.contains(",")) else { return word }
            return groups.output.filter(\.isNumber) + rest
        }
    }
}

extension Unicode.Scalar {
    fileprivate var isMark: Bool {
        [.nonspacingMark, .spacingMark, .enclosingMark].contains(properties.generalCategory)
    }
}

extension Unicode.Scalar.Properties {
    /// Whether a scalar was assigned in a version before one.
    fileprivate func isDefined(before major: Int) -> Bool { age.map { $0.major < major } ?? false }
}
