import FaultlineDisk
import FaultlineTestSupport
import Testing

struct ByteReaderTests {
    @Test func readsLittleEndianIntegersOfAnyAlignment() {
        let bytes: [UInt8] = [0xFF, 0x01, 0x02, 0x11, 0x12, 0x13, 0x14, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28]

        bytes.withUnsafeBytes { buffer in
            var reader = ByteReader(buffer)
            #expect(reader.readUInt8() == 0xFF)
            #expect(reader.readUInt16() == 0x0201)
            #expect(reader.readUInt32() == 0x1413_1211)
            #expect(reader.readUInt64() == 0x2827_2625_2423_2221)
            #expect(reader.isAtEnd)
            #expect(reader.integer(at: 1, as: UInt16.self) == 0x0201)
            #expect(reader.integer(at: 0, as: Int8.self) == -1)
        }
    }

    @Test func returnsNilPastTheEndAndStaysWhereItWas() {
        let bytes: [UInt8] = [1, 2, 3]

        bytes.withUnsafeBytes { buffer in
            var reader = ByteReader(buffer)
            #expect(reader.readUInt32() == nil)
            #expect(reader.readBytes(4) == nil)
            #expect(reader.readBytes(-1) == nil)
            #expect(reader.readBytes(.max) == nil)
            #expect(reader.skip(4) == nil)
            #expect(reader.skip(.min) == nil)
            #expect(reader.seek(to: 4) == nil)
            #expect(reader.offset == 0)
            #expect(reader.readUInt16() == 0x0201)
            #expect(reader.remainingByteCount == 1)
            #expect(reader.readUInt16() == nil)
            #expect(reader.readUInt8() == 3)
            #expect(reader.readUInt8() == nil)
        }
    }

    @Test(arguments: [-1, 3, 4, 5, Int.max, Int.min, Int.max - 3])
    func refusesIntegersAtPlacesOutside(offset: Int) {
        [1, 2, 3, 4, 5, 6].withUnsafeBytes { (buffer: UnsafeRawBufferPointer) in
            let six = UnsafeRawBufferPointer(rebasing: buffer[..<6])
            #expect(ByteReader(six).integer(at: offset, as: UInt32.self) == nil)
        }
    }

    @Test func readsNothingFromNothing() {
        var reader = ByteReader(UnsafeRawBufferPointer(start: nil, count: 0))

        #expect(reader.readUInt8() == nil)
        #expect(reader.readVarint() == nil)
        #expect(reader.readBytes(0)?.count == 0)
        #expect(reader.isAtEnd)
    }

    @Test(arguments: [0, 1, 127, 128, 300, 1 << 14, 1 << 35, UInt64.max >> 1, .max])
    func readsBackEveryVarint(value: UInt64) {
        var writer = ByteWriter()
        writer.appendVarint(value)
        writer.append(UInt8(7))

        var reader = ByteReader(writer.bytes)

        #expect(reader.readVarint() == value)
        #expect(reader.readUInt8() == 7)
    }

    /// Unfinished; too many bits; eleven bytes; longer than needed.
    @Test(
        arguments: [
            [0x80], [0xFF, 0xFF], [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02],
            [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01], [0x81, 0x00],
        ] as [[UInt8]])
    func refusesVarintsThatNobodyWrites(bytes: [UInt8]) {
        bytes.withUnsafeBytes { buffer in
            var reader = ByteReader(buffer)
            #expect(reader.readVarint() == nil)
            #expect(reader.offset == 0)
        }
    }

    @Test func survivesRandomBytesAndRandomCalls() {
        var seed = Seed(7)
        for _ in 0..<2000 {
            let count = seed.below(40)
            let bytes = seed.bytes(count)
            bytes.withUnsafeBytes { buffer in
                var reader = ByteReader(buffer)
                for _ in 0..<20 {
                    let before = reader.offset
                    let wanted = Int(truncatingIfNeeded: seed.next() >> UInt64(seed.below(64)))
                    let isDone =
                        switch seed.below(6) {
                        case 0: reader.readUInt8() != nil
                        case 1: reader.readUInt64() != nil
                        case 2: reader.readVarint() != nil
                        case 3: reader.readBytes(wanted) != nil
                        case 4: reader.skip(wanted) != nil
                        default: reader.integer(at: wanted, as: UInt32.self) != nil && false
                        }
                    #expect(reader.offset >= before && reader.offset <= count)
                    if !isDone { #expect(reader.offset == before) }
                }
            }
        }
    }
}
