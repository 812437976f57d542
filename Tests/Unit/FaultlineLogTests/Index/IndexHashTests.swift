import FaultlineLog
import FaultlineTestSupport
import Testing

struct IndexHashTests {
    private func hash(_ key: [UInt8], prefix: Int = .max) -> UInt64 {
        key.withUnsafeBytes { IndexHash.hash($0, prefixByteCountMax: prefix) }
    }

    /// Computed by another program from the text of docs/FileFormat.md.
    @Test(
        arguments: [
            ("", 0xE9E0_033E_3BAD_AF36), ("a", 0x6FB2_A91C_0BB5_859F), ("ab", 0xD2A5_3F4D_2C41_7DAB),
            ("abc", 0x4861_5C6C_1644_2340), ("abcdefg", 0x72FD_63BA_5082_6ED7), ("abcdefgh", 0xCA74_8FC9_0848_E087),
            ("abcdefghi", 0x406B_6F40_03C9_E522), ("user00001234567@mail.net", 0x3024_20D3_9BDF_C942),
        ] as [(String, UInt64)])
    func hashesAsTheDocumentSays(text: String, expected: UInt64) {
        #expect(hash(Array(text.utf8)) == expected)
    }

    @Test func hashesBytesOfEveryValueAndZeros() {
        #expect(hash(Array(0...255)) == 0x4AB4_5174_2481_322A)
        #expect(hash(Array(0..<24)) == 0xC263_9655_B7D2_C58A)
        #expect(hash([UInt8](repeating: 0, count: 8)) == 0x8CDC_EC6A_C94C_7327)
        #expect(hash([UInt8](repeating: 0, count: 16)) == 0xCC7A_89D6_CB93_9F9D)
    }

    /// The document's definition again, byte by byte: for every size exactly its bytes are read.
    @Test func agreesWithTheWordsForEverySize() {
        let multiplier: UInt64 = 0x9E37_79B9_7F4A_7C15
        var random = Seed(3)
        for count in 0..<70 {
            let bytes = random.bytes(count)
            var hash: UInt64 = 0x243F_6A88_85A3_08D3 ^ (UInt64(count) &* multiplier)
            for start in stride(from: 0, to: count, by: 8) {
                var word: UInt64 = 0
                for place in start..<min(start + 8, count) {
                    word |= UInt64(bytes[place]) << UInt64(8 * (place - start))
                }
                let product = (hash ^ word).multipliedFullWidth(by: multiplier)
                hash = product.low ^ product.high
            }
            hash = (hash ^ (hash >> 30)) &* 0xBF58_476D_1CE4_E5B9
            hash = (hash ^ (hash >> 27)) &* 0x94D0_49BB_1331_11EB
            hash ^= hash >> 31
            #expect(self.hash(bytes) == hash)
            #expect(self.hash(bytes + [1, 2, 3], prefix: count) == hash)
        }
    }

    @Test func spreadsKeysThatHardlyDiffer() {
        for make in [
            { (number: Int) in row(number, byteCount: 24) }, { number in Array("user\(number + 100_000)".utf8) },
        ]
            as [(Int) -> [UInt8]]
        {
            var tags: Set<UInt32> = [], lows: Set<UInt32> = []
            var buckets = [Int](repeating: 0, count: 256)
            for number in 0..<50_000 {
                let hash = hash(make(number))
                tags.insert(UInt32(hash >> 32))
                lows.insert(UInt32(truncatingIfNeeded: hash))
                buckets[Int(hash >> 56)] += 1
            }
            // Chance gives 0.3 collisions of 32 bits, and 195 a bucket, give or take 14.
            #expect(tags.count > 49_990 && lows.count > 49_990)
            #expect(buckets.allSatisfy { $0 > 110 && $0 < 280 })
        }
    }
}
