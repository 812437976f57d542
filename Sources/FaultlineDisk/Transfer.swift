import Glibc

/// Completes reads and writes that the system may cut short.
///
/// A signal (`EINTR`) and a short transfer resume where they stopped. A read that returns nothing means the end
/// of the file. A write that returns nothing would repeat for ever, so it counts as `EIO`.
package enum Transfer {
    /// Repeats a reading call until all bytes are in, the file ends, or it fails.
    ///
    /// - Parameters:
    ///   - byteCount: Bytes wanted.
    ///   - step: Makes the call for the bytes after the first `done`; returns the bytes moved or a negated
    ///     `errno`.
    /// - Returns: The bytes moved, and the `errno` that ended it, 0 if none did.
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

    /// Repeats a writing call until all bytes are out or it fails.
    ///
    /// A call that moves nothing counts as `EIO`, so that the loop ends.
    ///
    /// - Parameters:
    ///   - byteCount: Bytes to write.
    ///   - step: Makes the call for the bytes after the first `done`; returns the bytes moved or a negated
    ///     `errno`.
    /// - Returns: The bytes moved, and the `errno` that ended it, 0 if none did.
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

    /// Repeats a call that moves no bytes while a signal interrupts it.
    ///
    /// Not for calls that may have taken effect before the signal, such as `rename` on a file server or `close`.
    @inline(__always)
    package static func uninterrupted(_ call: () -> Int32) -> Int32 {
        while true {
            let result = call()
            if result != -EINTR { return result }
        }
    }
}
