import FaultlineDisk
import FaultlineLog

/// The bytes of a manifest or segment, to be changed into those of another version.
struct FrameBytes {
    private(set) var bytes: [UInt8]
    /// Offsets of the frames.
    private(set) var offsets: [Int] = []

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        var offset = FileHeader.byteCount
        while offset + FrameHeader.byteCount <= bytes.count, number(offset, 4) == head(at: offset) {
            offsets.append(offset)
            offset += FrameHeader.byteCount + number(offset + 4, 4)
        }
        self.bytes.removeSubrange(offset...)
    }

    func number(_ offset: Int, _ byteCount: Int) -> Int {
        bytes[offset..<offset + byteCount].reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    private mutating func set(_ value: Int, _ offset: Int, _ byteCount: Int) {
        for place in 0..<byteCount { bytes[offset + place] = UInt8(truncatingIfNeeded: value >> (8 * place)) }
    }

    private func checksum(_ range: Range<Int>, seed: UInt32 = 0) -> UInt32 {
        bytes[range].withUnsafeBytes { CRC32C.checksum($0, seed: seed) }
    }

    /// The right headCRC of the frame at an offset.
    private func head(at offset: Int) -> Int {
        let place = withUnsafeBytes(of: UInt64(offset).littleEndian) { Array($0) }
        let seed = (Array(bytes[40..<48]) + Array(bytes[32..<40]) + place).withUnsafeBytes { CRC32C.checksum($0) }
        return Int(checksum(offset + 4..<offset + 48, seed: seed))
    }

    /// Offsets of a frame's records.
    func records(of frame: Int) -> [Int] {
        var places: [Int] = []
        var place = frame + FrameHeader.byteCount
        for _ in 0..<number(frame + 12, 2) {
            places.append(place)
            place += 24 + (number(place + 4, 4) + 7) / 8 * 8
        }
        return places
    }

    /// Changes bytes of the last frame's header.
    mutating func changeLastHeader(_ offset: Int, to value: UInt8) {
        guard let frame = offsets.last else { return }
        bytes[frame + offset] = value
        set(head(at: frame), frame, 4)
    }

    /// Changes a byte of a record of the last frame, its header's first byte being 0, and all checksums over it.
    mutating func changeLastRecord(_ ordinal: Int, at offset: Int, to value: UInt8) {
        guard let frame = offsets.last else { return }
        var place = frame + FrameHeader.byteCount
        var headers: UInt32 = 0
        for record in 0..<number(frame + 12, 2) {
            let end = place + 24 + (number(place + 4, 4) + 7) / 8 * 8
            if record == ordinal {
                let before = checksum(place + 4..<end)
                bytes[place + offset] = value
                // Other parts of the checksum are kept.
                set(number(place, 4) ^ Int(before) ^ Int(checksum(place + 4..<end)), place, 4)
            }
            headers = checksum(place..<place + 24, seed: headers)
            place = end
        }
        set(Int(headers), frame + 8, 4)
        set(head(at: frame), frame, 4)
    }

    /// Appends a frame that records all bytes before it as durable.
    mutating func append(kind: UInt8, flags: UInt8 = 0, body: [UInt8] = []) {
        let offset = bytes.count
        let previous = offsets.last.map { number($0, 4) } ?? 0
        bytes += [UInt8](repeating: 0, count: FrameHeader.byteCount) + body
        set(body.count, offset + 4, 4)
        set(Int(body.withUnsafeBytes { CRC32C.checksum($0) }), offset + 8, 4)
        bytes[offset + 14] = kind
        bytes[offset + 15] = flags
        set(offset, offset + 24, 8)
        set(previous, offset + 32, 4)
        set(head(at: offset), offset, 4)
        offsets.append(offset)
    }
}
