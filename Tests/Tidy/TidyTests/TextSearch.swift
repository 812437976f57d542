import Foundation

extension StringProtocol {
    /// Whether the bytes of a text occur.
    ///
    /// Rules ask it of every line of the repository; the search of the standard library takes many times as long.
    func holds(_ text: StaticString) -> Bool {
        utf8.withContiguousStorageIfAvailable { $0.holds(text) } ?? contains(text.description)
    }
}

extension UnsafeBufferPointer<UInt8> {
    fileprivate func holds(_ text: StaticString) -> Bool {
        let length = text.utf8CodeUnitCount
        guard let start = baseAddress, length > 0, count >= length else { return false }
        var place = 0
        while place <= count - length,
            let found = memchr(start + place, Int32(text.utf8Start.pointee), count - length - place + 1)
        {
            if memcmp(found, text.utf8Start, length) == 0 { return true }
            place = UnsafeRawPointer(found) - UnsafeRawPointer(start) + 1
        }
        return false
    }
}
