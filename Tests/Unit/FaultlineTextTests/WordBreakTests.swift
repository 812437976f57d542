import FaultlineText
import Foundation
import Testing

/// The cases of Unicode's WordBreakTest.txt.
@Suite struct WordBreakTests {
    private struct Case {
        var text = ""
        var boundaries: [Int] = []
    }

    private static func cases() throws -> [Case] {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Fixtures/unicode/WordBreakTest.txt").standardizedFileURL
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        return lines.filter { !$0.hasPrefix("#") }.map { line in
            var test = Case()
            for field in line.split(separator: " ") {
                if field == "÷" {
                    test.boundaries.append(test.text.utf8.count)
                } else if let scalar = UInt32(field, radix: 16).flatMap(Unicode.Scalar.init) {
                    test.text.unicodeScalars.append(scalar)
                }
            }
            return test
        }
    }

    @Test func `all boundaries are those of Unicode`() throws {
        let cases = try Self.cases()
        #expect(cases.count == 1_823)
        for test in cases {
            var boundaries = [0]
            Array(test.text.utf8).withUnsafeBufferPointer { text in
                UnicodeTokenizer.forEachSegment(in: text) { segment, _ in boundaries.append(segment.upperBound) }
            }
            let scalars = test.text.unicodeScalars.map { String($0.value, radix: 16) }
            #expect(boundaries == test.boundaries, "\(scalars)")
        }
    }
}
