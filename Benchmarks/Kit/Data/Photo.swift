/// The photo of an employee: bytes that do not compress.
package enum Photo {
    package static let byteCount = 102_400
    static let wordCount = byteCount / 8

    /// Writes the photo of this employee to `memory`, `byteCount` bytes.
    package static func fill(_ memory: UnsafeMutableRawBufferPointer, id: Int) {
        precondition(memory.count >= byteCount, "a photo takes \(byteCount) bytes")
        var source = SplitMix64(EmployeeMaker.seed(id) &+ 0xB10B)
        for place in 0..<wordCount {
            memory.storeBytes(of: source.draw().littleEndian, toByteOffset: place * 8, as: UInt64.self)
        }
    }

    /// The photo of this employee.
    package static func bytes(id: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: byteCount) { memory, count in
            fill(UnsafeMutableRawBufferPointer(memory), id: id)
            count = byteCount
        }
    }

    /// The sum of the words of the photos of employees 1 to `count`.
    package static func sum(first count: Int) -> UInt64 {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: byteCount, alignment: 8)
        defer { memory.deallocate() }
        var total: UInt64 = 0
        for id in 1...max(count, 1) where id <= count {
            fill(memory, id: id)
            total &+= sum(UnsafeRawBufferPointer(memory))
        }
        return total
    }

    /// The wrapping sum of all little-endian words of `bytes`; the remaining bytes at the end count as a shorter word.
    package static func sum(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var sum: UInt64 = 0
        var place = 0
        while place + 8 <= bytes.count {
            sum &+= UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
            place += 8
        }
        var shift: UInt64 = 0
        while place < bytes.count {
            sum &+= UInt64(bytes[place]) << shift
            shift += 8
            place += 1
        }
        return sum
    }
}
