internal import Glibc

/// The order of terms and of keys: that of their bytes.
package enum TermOrder {
    /// Below 0, 0 or above it, as the first bytes come before, equal or come behind the second ones.
    @inline(__always)
    package static func order(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
        if let first = left.baseAddress, let second = right.baseAddress {
            let order = memcmp(first, second, min(left.count, right.count))
            if order != 0 { return Int(order) }
        }
        return left.count - right.count
    }
}
