/// The frames and records in the bytes of a sound hot segment, read by the format's document.
struct LogBytes {
    struct Frame {
        let offset: Int
        let byteCount: Int
        let sequence: UInt64
        let isContinued: Bool
    }

    struct Record {
        let offset: Int
        /// Header, payload and padding.
        let byteCount: Int
        let table: UInt16
        let id: UInt64
        let operation: UInt8
        /// The number of its transaction.
        let sequence: UInt64
    }

    private(set) var frames: [Frame] = []
    private(set) var records: [Record] = []

    init(_ bytes: [UInt8]) {
        func number(_ offset: Int, _ count: Int) -> UInt64 {
            (0..<count).reduce(UInt64(0)) { $0 | UInt64(bytes[offset + $1]) << UInt64(8 * $1) }
        }
        var place = 64
        while place + 48 <= bytes.count {
            let end = place + 48 + Int(number(place + 4, 4))
            let sequence = number(place + 16, 8)
            frames.append(
                Frame(
                    offset: place, byteCount: end - place, sequence: sequence,
                    isContinued: bytes[place + 15] & 0x40 != 0))
            place += 48
            while place < end {
                let whole = 24 + (Int(number(place + 4, 4)) + 7) / 8 * 8
                records.append(
                    Record(
                        offset: place, byteCount: whole, table: UInt16(number(place + 12, 2)),
                        id: number(place + 16, 6), operation: bytes[place + 22], sequence: sequence))
                place += whole
            }
        }
    }
}
