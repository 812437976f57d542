/// The values of one employee, with texts as bytes in place: making a million of them allocates nothing.
package struct EmployeeValues: Sendable {
    /// 1, 2, 3, … in the order of insertion.
    package var id: Int64
    /// 30,000 to 150,000, in steps of a hundredth.
    package var salary: Double
    /// Seconds since the reference date, below twenty years.
    package var hireDate: Double
    package var isActive: Bool
    /// 1 to 10.
    package var level: Int
    /// 1 to 100.
    package var department: Int
    /// 16 bytes: eight letters, a blank, seven letters; the first byte is the lowest of the first word.
    package var nameWords: InlineArray<2, UInt64>
    /// 24 bytes: sixteen hexadecimal digits and `@ex.test`.
    package var emailWords: InlineArray<3, UInt64>
    /// 80 bytes: ten words of seven letters and a blank.
    package var notesWords: InlineArray<10, UInt64>

    package var name: String { Self.text(nameWords) }
    package var email: String { Self.text(emailWords) }
    package var notes: String { Self.text(notesWords) }

    /// Bytes of all values as the payload of a store is counted: eight for each number, one for the Boolean.
    package static let payloadByteCount = 8 * 5 + 1 + 16 + 24 + 80

    @inline(__always)
    private static func text<let count: Int>(_ words: InlineArray<count, UInt64>) -> String {
        var words = words
        for place in words.indices { words[place] = words[place].littleEndian }
        return words.span.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
}

/// Makes employees and their texts.
///
/// It holds its tables, so that the loop that makes employees reads no global.
package struct EmployeeMaker: Sendable {
    private let letters: InlineArray<32, UInt8>
    private let words: InlineArray<64, UInt64>
    private let digits: InlineArray<16, UInt8>

    package init() {
        let alphabet: StaticString = "abcdefghijklmnopqrstuvwxyzaeioun"
        let letters = InlineArray<32, UInt8> { alphabet.utf8Start[$0] }
        let hexadecimal: StaticString = "0123456789abcdef"
        self.letters = letters
        digits = InlineArray<16, UInt8> { hexadecimal.utf8Start[$0] }
        words = InlineArray<64, UInt64> { index in
            var source = SplitMix64(0xD1C7 + UInt64(index))
            return Self.pack(source.draw(), letterCount: 7, letters) | UInt64(UInt8(ascii: " ")) << 56
        }
    }

    /// The employee with this number, from 1 up.
    @inline(__always)
    package func employee(_ id: Int) -> EmployeeValues {
        var source = SplitMix64(Self.seed(id) &+ 0xFA01_71E5)
        let d1 = source.draw()
        let d2 = source.draw()
        let d3 = source.draw()
        let d4 = source.draw()
        let d5 = source.draw()
        let d6 = source.draw()
        var notes = InlineArray<10, UInt64>(repeating: 0)
        for place in 0..<10 { notes[place] = words[Int(d6 >> UInt64(6 * place) & 63)] }
        return EmployeeValues(
            id: Int64(id),
            salary: Self.salary(d3),
            hireDate: Double(d4 % 631_152_000),
            isActive: d5 & 7 != 0,
            level: Int((d5 >> 3) % 10) + 1,
            department: Int((d5 >> 16) % 100) + 1,
            nameWords: nameWords(d1, d2),
            emailWords: emailWords(id),
            notesWords: notes
        )
    }

    /// The e-mail address of an employee, without the other values.
    @inline(__always)
    package func email(_ id: Int) -> String {
        var words = emailWords(id)
        for place in words.indices { words[place] = words[place].littleEndian }
        return words.span.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }

    /// The salary for one draw.
    @inline(__always)
    package static func salary(_ draw: UInt64) -> Double {
        30000 + Double(draw % 12_000_000) / 100
    }

    /// Notes for one draw, 80 bytes.
    package func notes(_ draw: UInt64) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(80)
        for place in 0..<10 {
            let word = words[Int(draw >> UInt64(6 * place) & 63)]
            for byte in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(8 * byte))) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The name of a department, 1 to 100.
    package static func departmentName(_ number: Int) -> String { "Department \(number)" }

    @inline(__always)
    static func seed(_ id: Int) -> UInt64 { UInt64(id) &* 0xD134_2543_DE82_EF95 }

    @inline(__always)
    private func nameWords(_ d1: UInt64, _ d2: UInt64) -> InlineArray<2, UInt64> {
        let first = Self.pack(d1, letterCount: 8, letters)
        let second = UInt64(UInt8(ascii: " ")) | Self.pack(d2, letterCount: 7, letters) << 8
        return [first, second]
    }

    @inline(__always)
    private func emailWords(_ id: Int) -> InlineArray<3, UInt64> {
        let number = SplitMix64.mix(UInt64(id))
        var high: UInt64 = 0
        var low: UInt64 = 0
        for place in 0..<8 {
            let shift = UInt64(8 * place)
            high |= UInt64(digits[Int(number >> UInt64(60 - 4 * place) & 15)]) << shift
            low |= UInt64(digits[Int(number >> UInt64(28 - 4 * place) & 15)]) << shift
        }
        // "@ex.test", first byte lowest.
        return [high, low, 0x7473_6574_2E78_6540]
    }

    /// Letters for groups of five bits, lowest first, as bytes of a word, lowest first.
    @inline(__always)
    private static func pack(_ draw: UInt64, letterCount: Int, _ letters: InlineArray<32, UInt8>) -> UInt64 {
        var word: UInt64 = 0
        for place in 0..<letterCount {
            word |= UInt64(letters[Int(draw >> UInt64(5 * place) & 31)]) << UInt64(8 * place)
        }
        return word
    }
}
