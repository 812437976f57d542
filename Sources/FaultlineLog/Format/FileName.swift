/// The kinds of numbered files, with the values of the file header.
package enum FileKind: UInt16, Sendable, CaseIterable {
    case manifest = 1
    case hotSegment = 2
    case coldSegment = 3
    case blobSegment = 4
    case tableCheckpoint = 5
    case indexRun = 6

    /// Whether it holds what nothing else can be made from: frames of records or of blobs.
    var isSegment: Bool {
        switch self {
        case .hotSegment, .coldSegment, .blobSegment: true
        case .manifest, .tableCheckpoint, .indexRun: false
        }
    }

    /// The letter that begins the name of such a file.
    var letter: String {
        switch self {
        case .manifest: "m"
        case .hotSegment: "s"
        case .coldSegment: "c"
        case .blobSegment: "b"
        case .tableCheckpoint: "t"
        case .indexRun: "r"
        }
    }

    /// What follows the number.
    var suffix: String {
        switch self {
        case .manifest: ".flm"
        case .hotSegment, .coldSegment, .blobSegment: ".fls"
        case .tableCheckpoint: ".flt"
        case .indexRun: ".flr"
        }
    }
}

/// The names of a store's files.
package enum FileName {
    package static let identity = "IDENTITY"
    static let identityBeingWritten = "IDENTITY.tmp"
    package static let lock = "LOCK"
    package static let quarantine = "quarantine"
    static let ballast = "BALLAST"

    /// The name of a numbered file: letter, dash, 16 hexadecimal digits, suffix.
    package static func numbered(_ kind: FileKind, _ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return kind.letter + "-" + String(repeating: "0", count: 16 - digits.count) + digits + kind.suffix
    }

    /// Kind and number of a name, or nil if it is not the name of a numbered file.
    package static func parse(_ name: String) -> (kind: FileKind, number: UInt64)? {
        let bytes = Array(name.utf8)
        guard bytes.count == 22, bytes[1] == UInt8(ascii: "-") else { return nil }
        var number: UInt64 = 0
        for byte in bytes[2..<18] {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt64(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): number = number << 4 | UInt64(byte - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        for kind in FileKind.allCases where name == numbered(kind, number) { return (kind, number) }
        return nil
    }
}
