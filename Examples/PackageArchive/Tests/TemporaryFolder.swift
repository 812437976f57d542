import Foundation
import Glibc

/// A folder that is deleted with its owner.
final class TemporaryFolder {
    let path: String

    init() throws {
        var template = Array("/tmp/faultline-XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else { throw NoFolder() }
        path = String(cString: made)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    func write(_ bytes: [UInt8], to name: String, mode: mode_t = 0o644) {
        let descriptor = open(path + "/" + name, O_WRONLY | O_CREAT | O_TRUNC, mode)
        defer { close(descriptor) }
        _ = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
    }

    func write(_ text: String, to name: String) { write(Array(text.utf8), to: name) }

    func makeFolder(_ name: String) { mkdir(path + "/" + name, 0o755) }

    func link(_ name: String, to target: String) { symlink(target, path + "/" + name) }

    struct NoFolder: Error {}
}
