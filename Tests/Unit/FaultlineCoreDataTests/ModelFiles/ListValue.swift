import FaultlineCoreData

/// A value of a binary property list, and its bytes.
indirect enum ListValue: Sendable {
    case null
    case flag(Bool)
    case integer(Int)
    case number(Double)
    case date(Double)
    case text(String)
    case data(Data)
    /// The reference of a keyed archive.
    case reference(Int)
    case list([ListValue])
    case dictionary([(String, ListValue)])
    /// A list of positions, for lists that contain themselves.
    case positions([Int])

    /// The bytes of a property list with this as its outermost value.
    var bytes: Data {
        var writer = ListWriter()
        _ = writer.add(self)
        return writer.bytes
    }
}

/// Writes binary property lists with offsets of four bytes and references of two.
private struct ListWriter {
    private var objects: [Data] = []

    mutating func add(_ value: ListValue) -> Int {
        let position = objects.count
        objects.append(Data())
        switch value {
        case .null: objects[position] = Data([0x00])
        case .flag(let flag): objects[position] = Data([flag ? 0x09 : 0x08])
        case .integer(let number): objects[position] = Data([0x13]) + Self.big(UInt64(bitPattern: Int64(number)), 8)
        case .number(let number): objects[position] = Data([0x23]) + Self.big(number.bitPattern, 8)
        case .date(let seconds): objects[position] = Data([0x33]) + Self.big(seconds.bitPattern, 8)
        case .text(let text):
            let units = Array(text.utf16)
            objects[position] =
                units.allSatisfy { $0 < 128 }
                ? Self.head(0x50, units.count) + Data(text.utf8)
                : units.reduce(Self.head(0x60, units.count)) { $0 + Self.big(UInt64($1), 2) }
        case .data(let data): objects[position] = Self.head(0x40, data.count) + data
        case .reference(let number): objects[position] = Data([0x81]) + Self.big(UInt64(number), 2)
        case .list(let values):
            let positions = values.map { add($0) }
            objects[position] = positions.reduce(Self.head(0xA0, values.count)) { $0 + Self.big(UInt64($1), 2) }
        case .dictionary(let pairs):
            let keys = pairs.map { add(.text($0.0)) }
            let values = pairs.map { add($0.1) }
            objects[position] = (keys + values).reduce(Self.head(0xD0, pairs.count)) { $0 + Self.big(UInt64($1), 2) }
        case .positions(let positions):
            objects[position] = positions.reduce(Self.head(0xA0, positions.count)) { $0 + Self.big(UInt64($1), 2) }
        }
        return position
    }

    var bytes: Data {
        var bytes = Data("bplist00".utf8)
        var offsets = Data()
        for object in objects {
            offsets += Self.big(UInt64(bytes.count), 4)
            bytes += object
        }
        let table = bytes.count
        bytes += offsets
        return bytes + Data([0, 0, 0, 0, 0, 0, 4, 2]) + Self.big(UInt64(objects.count), 8) + Self.big(0, 8)
            + Self.big(UInt64(table), 8)
    }

    private static func head(_ type: UInt8, _ count: Int) -> Data {
        count < 15 ? Data([type | UInt8(count)]) : Data([type | 0xF, 0x11]) + big(UInt64(count), 2)
    }

    private static func big(_ number: UInt64, _ size: Int) -> Data {
        Data((0..<size).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) })
    }
}
