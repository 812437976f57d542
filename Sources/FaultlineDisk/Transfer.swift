import Glibc

/// Completes reads and writes that the system may cut short.
///
/// After a signal (`EINTR`) or a short transfer, the call is repeated for the remaining bytes. A read that returns no
/// bytes means the end of the file. A write that returns no bytes counts as `EIO`, because it would be repeated for
/// ever.
package enum Transfer {
    /// Repeats a reading call until all bytes have been read, the file ends, or the call fails.
    ///
    /// - Parameters:
    ///   - byteCount: The number of bytes to read.
    ///   - step: Makes the call for the bytes after the first `done`, and returns the number of bytes or a negated
    ///     `errno`.
    /// - Returns: The number of bytes read, and the `errno` of the failed call, or 0.
    @inline(__always)
    package static func reading(_ byteCount: Int, _ step: (_ done: Int) -> Int64) -> (
        byteCount: Int, errorNumber: Int32
    ) {
        var done = 0
        while done < byteCount {
            let moved = step(done)
            if moved > 0 {
                done += Int(moved)
            } else if moved == 0 {
                break
            } else if moved != -Int64(EINTR) {
                return (done, Int32(truncatingIfNeeded: -moved))
            }
        }
        return (done, 0)
    }

    /// Repeats a writing call until all bytes have been written or the call fails.
    ///
    /// A call that writes no bytes counts as `EIO`, so that the loop ends.
    ///
    /// - Parameters:
    ///   - byteCount: The number of bytes to write.
    ///   - step: Makes the call for the bytes after the first `done`, and returns the number of bytes or a negated
    ///     `errno`.
    /// - Returns: The number of bytes written, and the `errno` of the failed call, or 0.
    @inline(__always)
    package static func writing(_ byteCount: Int, _ step: (_ done: Int) -> Int64) -> (
        byteCount: Int, errorNumber: Int32
    ) {
        var done = 0
        while done < byteCount {
            let moved = step(done)
            if moved > 0 {
                done += Int(moved)
            } else if moved == 0 {
                return (done, EIO)
            } else if moved != -Int64(EINTR) {
                return (done, Int32(truncatingIfNeeded: -moved))
            }
        }
        return (done, 0)
    }

    /// Repeats a call without a transfer while a signal interrupts it.
    ///
    /// Do not use it for calls that may have taken effect before the signal, such as `rename` on a file server or
    /// `close`.
    @inline(__always)
    package static func uninterrupted(_ call: () -> Int32) -> Int32 {
        while true {
            let result = call()
            if result != -EINTR { return result }
        }
    }
}
