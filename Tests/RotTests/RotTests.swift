import RotSimulation
import Testing

/// A sample of all bits of the reference stores, flipped one at a time.
struct RotTests {
    /// Prime, so that in every file bits of all places of a byte are met.
    private static let stride = 1_009

    @Test func noFlippedBitReadsWrongOrGoesUnseen() throws {
        for store in try RotStore.all() {
            var detectedCount = 0
            for bit in Swift.stride(from: 0, to: store.bitCount, by: Self.stride) {
                switch store.outcome(ofFlipping: bit) {
                case .detected: detectedCount += 1
                case .harmless: break
                case .wrong(let what): Issue.record("\(store.name), number \(bit): \(what)")
                }
            }
            #expect(detectedCount > 100, "\(store.name)")
        }
    }

    /// Nobody asks this filter: a memtable has every key that the run has.
    @Test func everyBitOfARunIsSeen() throws {
        let store = try #require(try RotStore.all().first { $0.name == "unclean" })
        var number = 0
        for file in store.files {
            let bits = number..<number + file.byteCount * 8
            number = bits.upperBound
            guard file.path.contains("/r-") else { continue }
            for bit in bits {
                #expect(store.outcome(ofFlipping: bit) == .detected, "\(file.path), bit \(bit - bits.lowerBound)")
            }
        }
    }
}
