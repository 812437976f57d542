/// The kind of file that bytes are, by their beginning.
enum MediaType: String {
    case png = "image/png"
    case jpeg = "image/jpeg"
    case gif = "image/gif"
    case webp = "image/webp"
    case avif = "image/avif"
    case bmp = "image/bmp"
    case pdf = "application/pdf"
    case other = "application/octet-stream"

    /// The number of first bytes that tell the kind.
    static let byteCount = 16

    /// Finds the kind by the first bytes of a value.
    init(_ beginning: some Collection<UInt8>) {
        let bytes = Array(beginning.prefix(Self.byteCount))
        func has(_ signature: String, at place: Int = 0) -> Bool {
            bytes.dropFirst(place).starts(with: Array(signature.utf8))
        }
        self =
            if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
                .png
            } else if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
                .jpeg
            } else if has("GIF87a") || has("GIF89a") {
                .gif
            } else if has("RIFF"), has("WEBP", at: 8) {
                .webp
            } else if has("ftypavif", at: 4) {
                .avif
            } else if has("BM"), bytes.count > 14, bytes[6..<10].allSatisfy({ $0 == 0 }) {
                .bmp
            } else if has("%PDF-") {
                .pdf
            } else {
                .other
            }
    }

    /// Whether browsers show it in a page.
    var isPicture: Bool { self != .pdf && self != .other }

    /// The ending of a file's name.
    var fileExtension: String {
        switch self {
        case .png: "png"
        case .jpeg: "jpg"
        case .gif: "gif"
        case .webp: "webp"
        case .avif: "avif"
        case .bmp: "bmp"
        case .pdf: "pdf"
        case .other: "bin"
        }
    }
}
