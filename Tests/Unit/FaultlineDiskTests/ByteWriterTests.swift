import FaultlineDisk
import FaultlineTestSupport
import Testing

struct ByteWriterTests {
    @Test func writesLittleEndian() {
        var writer = ByteWriter()

        writer.append(UInt16(0x0201))
        writer.append(Int32(-2))
        writer.append([9, 8])
        writer.appendZeros(2)

        #expect(writer.array() == [1, 2, 0xFE, 0xFF, 0xFF, 0xFF, 9, 8, 0, 0])
    }

    @Test func keepsItsBytesWhileItGrows() {
        var seed = Seed(11)
        var writer = ByteWriter(byteCapacity: 0)
        var expected: [UInt8] = []

        for _ in 0..<3000 {
            switch seed.below(4) {
            case 0:
                let value = seed.next()
                writer.append(value)
                withUnsafeBytes(of: value.littleEndian) { expected += $0 }
            case 1:
                let bytes = seed.bytes(seed.below(50))
                bytes.withUnsafeBytes { writer.append($0) }
                expected += bytes
            case 2:
                let count = seed.below(20)
                writer.append(byteCount: count) { $0.copyBytes(from: repeatElement(0xAB, count: count)) }
                expected += [UInt8](repeating: 0xAB, count: count)
            default:
                writer.align(to: 8)
                while expected.count % 8 != 0 { expected.append(0) }
            }
        }

        #expect(writer.array() == expected)
    }

    @Test func overwritesInPlace() {
        var writer = ByteWriter()
        writer.append(UInt64(0))
        writer.append(UInt64.max)

        writer.overwrite(UInt32(0x0403_0201), at: 6)

        #expect(writer.array() == [0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 255, 255, 255, 255, 255, 255])
    }

    @Test func isEmptyAndUsableAfterRemoveAll() {
        var writer = ByteWriter()
        writer.append([1, 2, 3])
        writer.removeAll()
        writer.appendZeros(3)

        #expect(writer.array() == [0, 0, 0])
        writer.truncate(to: 1)
        #expect(writer.byteCount == 1)
    }

    @Test func refusesToOverwriteOutside() async {
        await #expect(processExitsWith: .failure) {
            var writer = ByteWriter()
            writer.append(UInt32(1))
            writer.overwrite(UInt32(2), at: 1)
        }
    }
}
