import Glibc

/// The memory of this process as the kernel counts it.
package struct ProcessMemory: Sendable, Equatable {
    /// Resident bytes now, mapped file pages included.
    package let residentByteCount: Int
    /// The most resident bytes since the process began or `resetPeak` was called.
    package let peakByteCount: Int

    /// The memory now; zeros where `/proc` is not mounted.
    package static func now() -> ProcessMemory {
        let text = LargestFiles.contents(of: "/proc/self/status") ?? []
        return ProcessMemory(
            residentByteCount: value(of: "VmRSS:", in: text) ?? 0,
            peakByteCount: value(of: "VmHWM:", in: text) ?? 0
        )
    }

    /// Sets the peak back to the resident bytes; returns whether the kernel did it.
    @discardableResult
    package static func resetPeak() -> Bool {
        let descriptor = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return write(descriptor, "5", 1) == 1
    }

    /// The bytes in a line `key   123 kB` of a status text.
    static func value(of key: String, in text: [UInt8]) -> Int? {
        let key = Array(key.utf8)
        for line in text.split(separator: UInt8(ascii: "\n")) where line.starts(with: key) {
            let digits = line.dropFirst(key.count).drop { $0 == 0x20 || $0 == 0x09 }.prefix { $0 >= 48 && $0 <= 57 }
            return Int(String(decoding: digits, as: UTF8.self)).map { $0 * 1024 }
        }
        return nil
    }
}
