package import FaultlineTestSupport

/// Makes inputs from valid ones: random bytes, or a seed with some parts replaced, as in manual attacks on JSON and
/// text.
package struct InputMutation {
    private static let numbers = [
        "0", "-1", "1", "41", "336", "281474976710655", "281474976710656", "1443109011120", "1443109011121",
        "9223372036854775807", "9223372036854775808", "18446744073709551615", "-9223372036854775808", "1e400", "1.5",
        "99999999999999999999999999", "null", "true", "\"7\"", "[]", "{}",
    ]
    private let seeds: [[UInt8]]

    /// - Parameter seeds: Valid inputs; at least one.
    package init(_ seeds: [[UInt8]]) { self.seeds = seeds }

    package func input(_ random: inout Seed) -> [UInt8] {
        if random.oneIn(10) { return random.bytes(random.below(300)) }
        var bytes = random.pick(seeds)
        for _ in 0...random.below(4) { change(&bytes, &random) }
        return bytes
    }

    private func change(_ bytes: inout [UInt8], _ random: inout Seed) {
        guard !bytes.isEmpty else { return bytes = random.pick(seeds) }
        let place = random.below(bytes.count)
        let end = place + random.below(min(bytes.count - place, 40)) + 1
        switch random.below(9) {
        case 0: bytes[place] = UInt8(random.below(256))
        case 1: bytes.insert(UInt8(random.below(128)), at: place)
        case 2: bytes.removeSubrange(place..<end)
        case 3: bytes.insert(contentsOf: bytes[place..<end], at: place)
        case 4: bytes.removeSubrange(place...)
        case 5: bytes.replaceSubrange(place..., with: random.pick(seeds).suffix(random.below(200)))
        case 6: replaceText(&bytes, from: place, &random)
        default: replaceNumber(&bytes, from: place, &random)
        }
    }

    /// Replaces the first number behind an offset.
    private func replaceNumber(_ bytes: inout [UInt8], from place: Int, _ random: inout Seed) {
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard let start = bytes[place...].firstIndex(where: digits.contains) else { return }
        let end = bytes[start...].firstIndex { !digits.contains($0) } ?? bytes.count
        bytes.replaceSubrange(start..<end, with: random.pick(Self.numbers).utf8)
    }

    /// Replaces the text between the first two quotes behind an offset.
    private func replaceText(_ bytes: inout [UInt8], from place: Int, _ random: inout Seed) {
        let quote = UInt8(ascii: "\"")
        guard let start = bytes[place...].firstIndex(of: quote),
            let end = bytes[(start + 1)...].firstIndex(of: quote)
        else { return }
        let text = [UInt8](repeating: UInt8(97 + random.below(26)), count: random.oneIn(20) ? 5_000 : random.below(40))
        bytes.replaceSubrange(start + 1..<end, with: text)
    }
}
