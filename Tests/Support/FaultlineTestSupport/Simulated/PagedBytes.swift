/// The bytes of a simulated file, in pages that copies share until one of them writes.
///
/// A page that was never written is an empty array and reads as zeros, so sparse files cost nothing.
struct PagedBytes: Sendable {
    static let pageByteCount = 4096

    private(set) var byteCount = 0
    private var pages: [[UInt8]] = []

    /// Copies bytes from `offset` to a buffer; returns their number.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> Int {
        guard offset < byteCount else { return 0 }
        let total = Swift.min(buffer.count, byteCount - offset)
        var done = 0
        while done < total {
            let place = (offset + done) % Self.pageByteCount
            let count = Swift.min(total - done, Self.pageByteCount - place)
            let part = UnsafeMutableRawBufferPointer(rebasing: buffer[done..<(done + count)])
            let page = pages[(offset + done) / Self.pageByteCount]
            if page.isEmpty {
                for index in 0..<count { part[index] = 0 }
            } else {
                page.withUnsafeBytes {
                    part.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[place..<(place + count)]))
                }
            }
            done += count
        }
        return total
    }

    /// A copy of up to `count` bytes from `offset`.
    func bytes(at offset: Int, count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
        }
    }

    /// All bytes.
    var array: [UInt8] { bytes(at: 0, count: byteCount) }

    /// Writes bytes at `offset`, growing if necessary; zeros fill the space between the old end and `offset`.
    mutating func write(_ source: UnsafeRawBufferPointer, at offset: Int) {
        guard source.count > 0 else { return }
        extend(to: offset + source.count)
        var done = 0
        while done < source.count {
            let index = (offset + done) / Self.pageByteCount
            let place = (offset + done) % Self.pageByteCount
            let count = Swift.min(source.count - done, Self.pageByteCount - place)
            if pages[index].isEmpty { pages[index] = [UInt8](repeating: 0, count: Self.pageByteCount) }
            pages[index].withUnsafeMutableBytes { page in
                UnsafeMutableRawBufferPointer(rebasing: page[place..<(place + count)])
                    .copyMemory(from: UnsafeRawBufferPointer(rebasing: source[done..<(done + count)]))
            }
            done += count
        }
    }

    /// Writes the first `count` bytes of `source` at `offset`, without growing: bytes beyond the end are omitted.
    mutating func overwrite(_ source: [UInt8], count: Int, at offset: Int) {
        let fitting = Swift.min(count, byteCount - offset)
        guard fitting > 0 else { return }
        source.withUnsafeBytes { write(UnsafeRawBufferPointer(rebasing: $0[..<fitting]), at: offset) }
    }

    /// Truncates to `byteCount` bytes; the bytes behind read as zeros if the file grows again.
    mutating func cut(to byteCount: Int) {
        guard byteCount < self.byteCount else { return }
        self.byteCount = byteCount
        pages.removeLast(pages.count - (byteCount + Self.pageByteCount - 1) / Self.pageByteCount)
        guard let last = pages.indices.last, !pages[last].isEmpty else { return }
        for place in (byteCount - last * Self.pageByteCount)..<Self.pageByteCount { pages[last][place] = 0 }
    }

    /// Grows to at least `byteCount` bytes, with zeros.
    mutating func extend(to byteCount: Int) {
        guard byteCount > self.byteCount else { return }
        self.byteCount = byteCount
        let pageCount = (byteCount + Self.pageByteCount - 1) / Self.pageByteCount
        while pages.count < pageCount { pages.append([]) }
    }
}
