internal import Foundation

/// Reads the parts of a binary property list from its bytes.
struct BinaryPropertyListReader {
    private static let trailerSize = 32
    /// The most values, and the most references in all lists and dictionaries together.
    private static let countMax = 2_000_000
    /// The most bytes of all texts and data together: values may share bytes of the file.
    private static let contentMax = 64 << 20

    private let bytes: [UInt8]
    private let path: String
    private var offsetSize = 1
    private var referenceSize = 1
    private var valueCount = 0
    private var tableOffset = 0
    private var referenceCount = 0
    private(set) var contentSize = 0

    init(_ bytes: Data, path: String) {
        self.bytes = [UInt8](bytes)
        self.path = path
    }

    private func malformed(_ offset: Int, _ message: String) -> ModelFileError {
        ModelFileError(.malformed, path, offset: offset, message)
    }

    /// A number of big-endian bytes within the values before the trailer.
    private func number(at offset: Int, size: Int, end: Int? = nil) throws(ModelFileError) -> UInt64 {
        guard offset >= 0, size >= 0, size <= 8, offset <= (end ?? bytes.count) - size else {
            throw malformed(min(max(offset, 0), bytes.count), "A number ends after the file. Copy the file again.")
        }
        return bytes[offset..<offset + size].reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Reads sizes and counts at the end of the file, and returns the position of the outermost value.
    mutating func readTrailer() throws(ModelFileError) -> Int {
        guard bytes.starts(with: BinaryPropertyList.magic) else {
            let isNewer = bytes.count > 8 && bytes.starts(with: BinaryPropertyList.magic.dropLast(2))
            throw isNewer
                ? ModelFileError(.newer, path, offset: 6, "The property list has a version after 00.")
                : ModelFileError(
                    .foreign, path, offset: 0,
                    "The file is no binary property list, as compiled models are. It may be encrypted.")
        }
        let trailer = bytes.count - Self.trailerSize
        guard trailer >= BinaryPropertyList.magic.count else {
            throw malformed(bytes.count, "The file ends too early. Copy it again.")
        }
        offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        let counts = [8, 16, 24].map { at in bytes[trailer + at..<trailer + at + 8].reduce(0) { $0 << 8 | UInt64($1) } }
        guard (1...8).contains(offsetSize), (1...8).contains(referenceSize), counts[0] > 0, counts[1] < counts[0] else {
            throw malformed(trailer, "The end of the file has impossible sizes: it is truncated or damaged.")
        }
        guard counts[0] <= UInt64(Self.countMax) else {
            throw ModelFileError(
                .tooLarge, path, offset: trailer,
                "The property list has \(counts[0]) values; \(Self.countMax) is the most.")
        }
        valueCount = Int(counts[0])
        guard counts[2] >= 8, counts[2] <= UInt64(trailer),
            trailer - Int(counts[2]) >= valueCount * offsetSize
        else { throw malformed(trailer, "The table of values is not in the file: it is truncated or damaged.") }
        tableOffset = Int(counts[2])
        return Int(counts[1])
    }

    mutating func readValues() throws(ModelFileError) -> [BinaryPropertyList.Value] {
        var values: [BinaryPropertyList.Value] = []
        values.reserveCapacity(valueCount)
        var texts: [Int: String] = [:]
        var dictionaries: [(position: Int, keys: [Int], values: [Int], offset: Int)] = []
        for position in 0..<valueCount {
            let offset = try self.offset(of: position)
            if bytes[offset] >> 4 == 0xD {
                let count = try self.count(at: offset)
                let keys = try references(at: count.next, count.count)
                let members = try references(at: count.next + count.count * referenceSize, count.count)
                dictionaries.append((position, keys, members, offset))
                values.append(.null)
            } else {
                let value = try self.value(at: offset)
                if case .text(let text) = value { texts[position] = text }
                values.append(value)
            }
        }
        for dictionary in dictionaries {
            var members: [String: Int] = [:]
            for (key, value) in zip(dictionary.keys, dictionary.values) {
                guard let text = texts[key] else { throw malformed(dictionary.offset, "A key is no text.") }
                members[text] = value
            }
            values[dictionary.position] = .dictionary(members)
        }
        return values
    }

    private func offset(of position: Int) throws(ModelFileError) -> Int {
        let entry = tableOffset + position * offsetSize
        let offset = try number(at: entry, size: offsetSize)
        guard offset >= 8, offset < UInt64(tableOffset) else {
            throw malformed(entry, "A value lies outside the file: it is truncated or damaged.")
        }
        return Int(offset)
    }

    /// The count of a value, and the offset of its first byte or reference.
    private func count(at offset: Int) throws(ModelFileError) -> (count: Int, next: Int) {
        let short = Int(bytes[offset] & 0xF)
        guard short == 0xF else { return (short, offset + 1) }
        guard offset + 1 < tableOffset, bytes[offset + 1] >> 4 == 1, bytes[offset + 1] & 0xF <= 3 else {
            throw malformed(offset, "The count of a value is no number.")
        }
        let size = 1 << Int(bytes[offset + 1] & 0xF)
        let count = try number(at: offset + 2, size: size, end: tableOffset)
        guard count <= UInt64(tableOffset) else { throw malformed(offset, "The count of a value exceeds the file.") }
        return (Int(count), offset + 2 + size)
    }

    private mutating func references(at offset: Int, _ count: Int) throws(ModelFileError) -> [Int] {
        guard offset <= tableOffset, count <= (tableOffset - offset) / referenceSize else {
            throw malformed(min(offset, bytes.count), "A list ends after the file: it is truncated or damaged.")
        }
        referenceCount += count
        guard referenceCount <= Self.countMax else {
            throw ModelFileError(
                .tooLarge, path, offset: offset,
                "All lists together have more than \(Self.countMax) members.")
        }
        var references: [Int] = []
        references.reserveCapacity(count)
        for index in 0..<count {
            let place = offset + index * referenceSize
            let reference = try number(at: place, size: referenceSize, end: tableOffset)
            guard reference < UInt64(valueCount) else { throw malformed(place, "A reference leads to no value.") }
            references.append(Int(reference))
        }
        return references
    }

    private mutating func content(at offset: Int, _ size: Int) throws(ModelFileError) -> ArraySlice<UInt8> {
        guard offset <= tableOffset, size <= tableOffset - offset else {
            throw malformed(min(offset, bytes.count), "A text or data ends after the file: it is truncated.")
        }
        contentSize += size
        guard contentSize <= Self.contentMax else {
            throw ModelFileError(
                .tooLarge, path, offset: offset, "All texts and data have more than \(Self.contentMax) bytes.")
        }
        return bytes[offset..<offset + size]
    }

    private mutating func value(at offset: Int) throws(ModelFileError) -> BinaryPropertyList.Value {
        let marker = bytes[offset]
        let low = Int(marker & 0xF)
        switch marker >> 4 {
        case 0x0:
            switch marker {
            case 0x00: return .null
            case 0x08: return .flag(false)
            case 0x09: return .flag(true)
            default: throw malformed(offset, "A value has the unknown type \(marker).")
            }
        case 0x1 where low <= 3:
            let bits = try number(at: offset + 1, size: 1 << low, end: tableOffset)
            return .integer(Int64(bitPattern: bits))
        case 0x1 where low == 4:
            // 128 bits, for numbers above those of 64 bits with a sign.
            let high = try number(at: offset + 1, size: 8, end: tableOffset)
            let bits = try number(at: offset + 9, size: 8, end: tableOffset)
            return high == 0 && bits <= UInt64(Int64.max) ? .integer(Int64(bits)) : .number(Double(bits))
        case 0x2 where low == 2:
            let bits = try number(at: offset + 1, size: 4, end: tableOffset)
            return .number(Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits))))
        case 0x2 where low == 3:
            return .number(Double(bitPattern: try number(at: offset + 1, size: 8, end: tableOffset)))
        case 0x3 where low == 3:
            let seconds = Double(bitPattern: try number(at: offset + 1, size: 8, end: tableOffset))
            return .date(Date(timeIntervalSinceReferenceDate: seconds))
        case 0x4:
            let count = try self.count(at: offset)
            return .data(Data(try content(at: count.next, count.count)))
        case 0x5, 0x6, 0x7: return .text(try text(at: offset))
        case 0x8:
            let bits = try number(at: offset + 1, size: min(low + 1, 8), end: tableOffset)
            guard low < 8, bits <= UInt64(Int32.max) else { throw malformed(offset, "A reference is too large.") }
            return .reference(Int(bits))
        case 0xA, 0xB, 0xC:
            let count = try self.count(at: offset)
            return .list(try references(at: count.next, count.count))
        default: throw malformed(offset, "A value has the unknown type \(marker).")
        }
    }

    private mutating func text(at offset: Int) throws(ModelFileError) -> String {
        let count = try self.count(at: offset)
        guard bytes[offset] >> 4 == 0x6 else {
            let content = try content(at: count.next, count.count)
            guard let text = String(validating: content, as: UTF8.self) else {
                throw malformed(offset, "A text has bytes that are no characters.")
            }
            return text
        }
        let content = [UInt8](try content(at: count.next, count.count * 2))
        let units = stride(from: 0, to: content.count, by: 2).map { UInt16(content[$0]) << 8 | UInt16(content[$0 + 1]) }
        guard let text = String(validating: units, as: UTF16.self) else {
            throw malformed(offset, "A text has bytes that are no characters.")
        }
        return text
    }
}
