import FaultlineDisk

/// The kinds of numbered files, with the values of the file header.
package enum FileKind: UInt16, Sendable, CaseIterable {
    case manifest = 1
    case hotSegment = 2
    case coldSegment = 3
    case blobSegment = 4
    case tableCheckpoint = 5
    case indexRun = 6

    /// Whether the file holds primary data, frames of records or of blobs, which cannot be built from other files.
    package var isSegment: Bool {
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

    /// The file extension, with its dot.
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
    package static let identityBeingWritten = "IDENTITY.tmp"
    package static let lock = "LOCK"
    package static let quarantine = "quarantine"
    static let ballast = "BALLAST"
    /// The folder with the files that only states of the past need.
    package static let retained = "retained"
    /// The file there with the window of these states.
    static let retentionWindow = "WINDOW"

    /// Whether a file of a store can have the name.
    package static func isOfStore(_ name: String) -> Bool {
        parse(name) != nil || [identity, identityBeingWritten, lock, ballast].contains(name)
    }

    /// The name of a numbered file: letter, dash, 16 hexadecimal digits, suffix.
    package static func numbered(_ kind: FileKind, _ number: UInt64) -> String {
        kind.letter + "-" + number.hexadecimal + kind.suffix
    }

    /// Kind and number of a name, or nil if it is not the name of a numbered file.
    package static func parse(_ name: String) -> (kind: FileKind, number: UInt64)? {
        var name = name
        return name.withUTF8 { parse(UnsafeRawBufferPointer($0)) }
    }

    /// The numbers of the manifests among file names.
    package static func manifests(among names: [String]) -> [UInt64] {
        names.compactMap(parse).filter { $0.kind == .manifest }.map(\.number)
    }

    private static func parse(_ name: UnsafeRawBufferPointer) -> (kind: FileKind, number: UInt64)? {
        guard name.count == 22, name[1] == UInt8(ascii: "-") else { return nil }
        var number: UInt64 = 0
        for place in 2..<18 {
            let byte = name[place]
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt64(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): number = number << 4 | UInt64(byte - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        guard name[18] == UInt8(ascii: "."), name[19] == UInt8(ascii: "f"), name[20] == UInt8(ascii: "l"),
            let kind = kind(letter: name[0], suffix: name[21])
        else { return nil }
        return (kind, number)
    }

    /// The kind of a file by the first and the last letter of its name.
    private static func kind(letter: UInt8, suffix: UInt8) -> FileKind? {
        switch (letter, suffix) {
        case (UInt8(ascii: "m"), UInt8(ascii: "m")): .manifest
        case (UInt8(ascii: "s"), UInt8(ascii: "s")): .hotSegment
        case (UInt8(ascii: "c"), UInt8(ascii: "s")): .coldSegment
        case (UInt8(ascii: "b"), UInt8(ascii: "s")): .blobSegment
        case (UInt8(ascii: "t"), UInt8(ascii: "t")): .tableCheckpoint
        case (UInt8(ascii: "r"), UInt8(ascii: "r")): .indexRun
        default: nil
        }
    }
}
