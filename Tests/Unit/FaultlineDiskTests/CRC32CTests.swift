import CFaultline
import FaultlineDisk
import FaultlineTestSupport
import Testing

struct CRC32CTests {
    static let methods = [FL_CRC32C_TABLES, FL_CRC32C_SERIAL, FL_CRC32C_INTERLEAVED].filter { fl_crc32c_has($0) }

    /// RFC 3720, appendix B.4; the last is the check value of the CRC catalogues.
    static let vectors: [(bytes: [UInt8], checksum: UInt32)] = [
        ([UInt8](repeating: 0, count: 32), 0x8A91_36AA),
        ([UInt8](repeating: 0xFF, count: 32), 0x62A8_AB43),
        ([UInt8](0..<32), 0x46DD_794E),
        ([UInt8]((0..<32).reversed()), 0x113F_DB5C),
        (
            [
                0x01, 0xC0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x14, 0, 0, 0, 0, 0, 0x04, 0, 0, 0, 0, 0x14, 0, 0,
                0, 0x18,
                0x28, 0, 0, 0, 0, 0, 0, 0, 0x02, 0, 0, 0, 0, 0, 0, 0,
            ], 0xD996_3A56
        ),
        (Array("123456789".utf8), 0xE306_9283),
        ([], 0),
    ]

    @Test(arguments: vectors.indices)
    func agreesWithTheStandardsVectors(index: Int) {
        let (bytes, checksum) = Self.vectors[index]

        bytes.withUnsafeBytes { buffer in
            #expect(CRC32C.checksum(buffer) == checksum)
            for method in Self.methods {
                #expect(fl_crc32c_by(method, buffer.baseAddress, buffer.count, 0) == checksum)
            }
        }
    }

    @Test func everyMethodAgreesWithTheDefinitionBitByBit() {
        var seed = Seed(1)
        let bytes = seed.bytes(300)
        var lengths = Array(0...300)
        lengths.shuffle(using: &seed)

        for length in lengths {
            var state: UInt32 = ~0x1234_5678
            for byte in bytes[..<length] {
                state ^= UInt32(byte)
                for _ in 0..<8 { state = state & 1 == 1 ? state >> 1 ^ 0x82F6_3B78 : state >> 1 }
            }
            bytes.withUnsafeBytes { buffer in
                for method in Self.methods {
                    #expect(fl_crc32c_by(method, buffer.baseAddress, length, 0x1234_5678) == ~state, "\(length) bytes")
                }
            }
        }
    }

    @Test func methodsAgreeAtEveryLengthAndAlignment() {
        var seed = Seed(2)
        let bytes = seed.bytes(70_000)
        // Around every length at which a method changes its step: words, lanes, whole blocks of lanes.
        var lengths = Array(0...1200)
        for blocks in 1...11 { lengths += (blocks * 6144 - 30)...(blocks * 6144 + 60) }

        bytes.withUnsafeBytes { buffer in
            for length in lengths {
                let start = length % 17
                let running = UInt32(truncatingIfNeeded: length &* 0x9E37_79B9)
                let place = buffer.baseAddress.map { $0 + start }
                let expected = fl_crc32c_by(FL_CRC32C_TABLES, place, length, running)
                for method in Self.methods {
                    #expect(fl_crc32c_by(method, place, length, running) == expected, "\(length) bytes")
                }
            }
        }
    }

    @Test func continuesWhereAnEarlierChecksumEnded() {
        var seed = Seed(3)
        let bytes = seed.bytes(20_000)

        bytes.withUnsafeBytes { buffer in
            let whole = CRC32C.checksum(buffer)
            for _ in 0..<200 {
                let cut = seed.below(buffer.count + 1)
                let first = CRC32C.checksum(UnsafeRawBufferPointer(rebasing: buffer[..<cut]))
                let rest = UnsafeRawBufferPointer(rebasing: buffer[cut...])
                #expect(CRC32C.checksum(rest, seed: first) == whole)
                if let start = rest.baseAddress { #expect(CRC32C.checksum(start, rest.count, seed: first) == whole) }
            }
        }
    }

    @Test func usesTheMachinesInstructionWhereThereIsOne() {
        #if arch(x86_64)
        #expect(fl_crc32c_has(FL_CRC32C_SERIAL))
        #endif
        #expect(fl_crc32c_has(FL_CRC32C_TABLES))
    }
}
