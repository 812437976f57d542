import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Testing

struct HeaderTests {
    private let header = FileHeader(
        kind: .blobSegment, storeID: (0x1122_3344_5566_7788, 0x99AA_BBCC_DDEE_FF00), fileNumber: 0x0102_0304_0506_0708,
        salt: 7,
        generation: 0x0403_0201)

    private func bytes(_ header: FileHeader) -> [UInt8] {
        var bytes = [UInt8](repeating: 0xEE, count: FileHeader.byteCount)
        bytes.withUnsafeMutableBytes { if let start = $0.baseAddress { header.write(to: start) } }
        return bytes
    }

    @Test func writesTheBytesOfTheFormat() {
        let bytes = bytes(header)
        #expect(Array(bytes[0..<8]) == [0x46, 0x4C, 0x54, 0x46, 0x49, 0x4C, 0x45, 0x01])
        #expect(Array(bytes[8..<16]) == [1, 0, 0, 0, 64, 0, 4, 0])
        #expect(Array(bytes[32..<40]) == [8, 7, 6, 5, 4, 3, 2, 1])
        #expect(Array(bytes[52..<60]) == [1, 2, 3, 4, 0, 0, 0, 0])
    }

    @Test func readsItselfBackAndRefusesAnyChangedByte() {
        let whole = bytes(header)
        #expect(whole.withUnsafeBytes { FileHeader(reading: $0) } == header)
        for place in whole.indices {
            for bit in 0..<8 {
                var changed = whole
                changed[place] ^= 1 << bit
                #expect(changed.withUnsafeBytes { FileHeader(reading: $0) } == nil, "byte \(place), bit \(bit)")
            }
        }
        #expect(whole.prefix(63).withUnsafeBytes { FileHeader(reading: $0) } == nil)
    }

    @Test func placesRecordsWhereTheFormatSays() throws {
        let store = Store()
        let log = try store.open()
        _ = try log.write(author: "me") { transaction in
            try transaction.put(
                0x0001_0403_0201, in: plainTable, layout: 0x0908, changed: 0xAB, flags: [.hasExtension], byteCount: 5
            ) {
                $0.copyBytes(from: [1, 2, 3, 4, 5])
            }
        }
        let path = try #require(store.files(.hotSegment).first)
        let bytes = try store.disk.contents(path)
        // Frame header.
        #expect(bytes[64 + 12] == 2 && bytes[64 + 14] == 1 && bytes[64 + 15] == 0)
        #expect(Array(bytes[64 + 16..<64 + 24]) == [1, 0, 0, 0, 0, 0, 0, 0])
        #expect(Array(bytes[64 + 24..<64 + 32]) == [64, 0, 0, 0, 0, 0, 0, 0])
        // Record header and payload: the mask, the row, padding.
        let record = 64 + 48
        #expect(Array(bytes[record + 4..<record + 12]) == [13, 0, 0, 0, 13, 0, 0, 0])
        #expect(Array(bytes[record + 12..<record + 24]) == [17, 0, 8, 9, 1, 2, 3, 4, 1, 0, 1, 0b1001])
        #expect(Array(bytes[record + 24..<record + 40]) == [0xAB, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 0, 0, 0])
        let checksum = bytes[record + 4..<record + 40].withUnsafeBytes { CRC32C.checksum($0) }
        // Bound to its file and offset.
        let binding = (bytes[40..<48] + bytes[32..<40]).withUnsafeBytes { CRC32C.checksum($0) } ^ UInt32(record / 8)
        #expect(
            withUnsafeBytes(of: (checksum ^ binding).littleEndian) { Array($0) } == Array(bytes[record..<record + 4]))
        // Transaction record, with the author behind it.
        let closing = record + 40
        #expect(bytes[closing + 22] == 4)
        #expect(
            Array(bytes[closing + 24 + 72..<closing + 24 + 78]) == [2, 0, 0, 0, UInt8(ascii: "m"), UInt8(ascii: "e")])
        let location = try log.snapshot().location(of: 0x0001_0403_0201, in: plainTable)
        #expect(location.byteOffset == UInt64(record))
        #expect(location.packed == 5)
    }
}
