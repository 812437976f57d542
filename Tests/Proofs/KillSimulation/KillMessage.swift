import Glibc

/// A message of 24 bytes that the process to be killed writes to its pipe in one call.
enum KillMessage: Equatable {
    /// The store is open, and its contents have been read.
    case opened
    /// The commit of a writer's transaction returned.
    case acknowledged(writer: Int, number: UInt64, digest: UInt64)

    static let byteCount = 24

    init?(reading bytes: UnsafeRawBufferPointer) {
        let words = (0..<3).map { bytes.loadUnaligned(fromByteOffset: 8 * $0, as: UInt64.self) }
        switch words[0] {
        case 0: self = .opened
        case 1...UInt64(KillModel.writerCount):
            self = .acknowledged(writer: Int(words[0]) - 1, number: words[1], digest: words[2])
        default: return nil
        }
    }

    /// Writes the message to the standard output.
    ///
    /// A pipe accepts this few bytes at once.
    func send() {
        var words: (UInt64, UInt64, UInt64) = (0, 0, 0)
        if case .acknowledged(let writer, let number, let digest) = self {
            words = (UInt64(writer) + 1, number, digest)
        }
        withUnsafeBytes(of: words) { _ = write(1, $0.baseAddress, $0.count) }
    }
}
