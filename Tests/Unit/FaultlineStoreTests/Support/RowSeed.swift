/// A seeded generator, so that a failing run can be repeated.
struct RowSeed: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }

    mutating func chance(_ oneIn: Int) -> Bool { below(oneIn) == 0 }

    /// Text with ASCII, composed and decomposed letters, marks in odd order, zeros and scalars beyond the first plane.
    mutating func text() -> String {
        let pieces: [String] = [
            "a", "b", "B", "z", " ", "0", "\u{0}", "\u{7F}", "\r\n", "\n", "é", "e\u{301}", "ö", "o\u{308}", "ß", "Å",
            "A\u{30A}", "\u{212B}", "\u{301}", "\u{323}\u{307}", "q\u{307}\u{323}", "日", "本", "한",
            "\u{1112}\u{1161}\u{11AB}",
            "😀", "👨‍👩‍👧", "\u{FB01}", "\u{1E9B}\u{323}", "\u{10FFFF}", "\u{FFFF}", "\u{E000}", "\u{2126}",
        ]
        var text = ""
        for _ in 0..<below(6) { text += chance(2) ? pieces[below(6)] : pieces[below(pieces.count)] }
        return text
    }

    mutating func int64() -> Int64 {
        let edges: [Int64] = [
            0, 1, -1, 127, 128, -128, -129, 255, 256, 32767, 65535, 65536, .max, .min, 1 << 32, -(1 << 31),
        ]
        return chance(2) ? edges[below(edges.count)] : Int64(bitPattern: next()) >> Int64(below(64))
    }

    mutating func double() -> Double {
        let edges: [Double] = [
            0, -0.0, 1, -1, .infinity, -.infinity, .nan, -.nan, .leastNonzeroMagnitude, -.leastNonzeroMagnitude,
            .greatestFiniteMagnitude, -.greatestFiniteMagnitude, 0.1, 120_000, 9_007_199_254_740_992, 1.5,
        ]
        return chance(2) ? edges[below(edges.count)] : Double(Int64(bitPattern: next()) >> Int64(below(64))) / 8
    }

    mutating func bytes(_ limit: Int) -> [UInt8] {
        (0..<below(limit)).map { _ in chance(3) ? UInt8([0, 1, 255][below(3)]) : UInt8(truncatingIfNeeded: next()) }
    }
}
