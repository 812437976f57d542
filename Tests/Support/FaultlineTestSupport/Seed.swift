import Glibc

/// A seeded source of random numbers (SplitMix64: Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators").
///
/// The same seed gives the same numbers everywhere and for ever. A test that uses one has `seed.replayLine` in its
/// expectations' comments:
///
///     @Test(arguments: Seed.list(20)) func keepsWhatWasAcknowledged(seed: Seed) throws {
///         var random = seed
///         #expect(lost.isEmpty, "\(seed.replayLine)")
package struct Seed: RandomNumberGenerator, Hashable, Sendable, CustomStringConvertible {
    /// The number this generator began with.
    package let origin: UInt64
    private var state: UInt64

    package init(_ origin: UInt64) {
        self.origin = origin
        state = origin
    }

    /// The environment variable that replaces a test's list of seeds by one.
    package static let variable = "FAULTLINE_SEED"

    /// `count` seeds from `first` on, `part` of them in an unoptimized build (`TestSize`); or only the one in
    /// `FAULTLINE_SEED`, in decimal or with `0x` in front.
    package static func list(_ count: Int, from first: UInt64 = 1, unoptimized part: Int? = nil) -> [Seed] {
        if let text = getenv(variable), let chosen = parse(String(cString: text)) { return [Seed(chosen)] }
        return (0..<UInt64(TestSize.of(count, unoptimized: part ?? count))).map { Seed(first &+ $0) }
    }

    static func parse(_ text: String) -> UInt64? {
        text.hasPrefix("0x") ? UInt64(text.dropFirst(2), radix: 16) : UInt64(text)
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number from 0 to `limit` - 1; `limit` is at least 1.
    ///
    /// Slightly biased, which does not matter for tests, and far faster than `Int.random`.
    package mutating func below(_ limit: Int) -> Int {
        precondition(limit > 0, "There is no number below \(limit).")
        return Int(truncatingIfNeeded: next().multipliedFullWidth(by: UInt64(limit)).high)
    }

    /// True once in `count` times.
    package mutating func oneIn(_ count: Int) -> Bool { below(count) == 0 }

    /// An element; the array is not empty.
    package mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

    /// That many random bytes.
    package mutating func bytes(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        while bytes.count < count {
            var word = next()
            for _ in 0..<Swift.min(8, count - bytes.count) {
                bytes.append(UInt8(truncatingIfNeeded: word))
                word >>= 8
            }
        }
        return bytes
    }

    /// Another generator, independent of this one's later numbers.
    package mutating func fork() -> Seed { Seed(next()) }

    /// The line that runs one test again with this seed.
    package func replay(_ test: String) -> String {
        "replay: \(Self.variable)=0x\(String(origin, radix: 16)) swift test --filter '\(test)'"
    }

    /// The line that runs a test again with this seed, without its name.
    package var replayLine: String { replay("<this test>") }

    package var description: String { "seed 0x\(String(origin, radix: 16))" }

    /// Runs `body` with a fresh generator and prints the line that replays it if it throws.
    package func replaying<R, E: Error>(_ test: String = #function, _ body: (inout Seed) throws(E) -> R) throws(E) -> R
    {
        var generator = Seed(origin)
        do {
            return try body(&generator)
        } catch {
            print(replay(test))
            throw error
        }
    }
}
