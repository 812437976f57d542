import FaultlineDisk
import Glibc

/// The descriptors that this process has open.
package enum OpenDescriptors {
    /// The number of those that lead to files under a directory, removed ones included.
    package static func count(under directory: String) -> Int {
        let names = (try? PosixDisk().names(in: "/proc/self/fd")) ?? []
        return names.count { name in
            var bytes = [CChar](repeating: 0, count: 4_096)
            guard readlink("/proc/self/fd/" + name, &bytes, bytes.count - 1) > 0 else { return false }
            let path = String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            return path.hasPrefix(directory + "/")
        }
    }
}
