/// The segments that a snapshot may read from, by the low 32 bits of their number.
///
/// Open addressing, linear probing, at most half full; immutable, so that reading it takes no lock.
// Safe because nothing in it changes after `init`.
package final class FileTable: @unchecked Sendable {
    private let mask: Int
    private let slots: UnsafeMutablePointer<(key: UInt32, file: Unmanaged<ManagedFile>?)>
    package let files: [ManagedFile]

    package init(_ files: [ManagedFile]) {
        self.files = files
        var capacity = 8
        while capacity < files.count * 2 { capacity *= 2 }
        mask = capacity - 1
        slots = .allocate(capacity: capacity)
        slots.initialize(repeating: (0, nil), count: capacity)
        for file in files {
            let key = UInt32(truncatingIfNeeded: file.number)
            var index = Self.start(key, mask)
            while slots[index].file != nil { index = (index + 1) & mask }
            slots[index] = (key, Unmanaged.passUnretained(file))
        }
    }

    deinit {
        slots.deallocate()
    }

    @inline(__always)
    private static func start(_ key: UInt32, _ mask: Int) -> Int {
        Int(truncatingIfNeeded: key &* 0x9E37_79B1) & mask
    }

    /// The file with a number.
    ///
    /// It is valid as long as the table.
    @inline(__always)
    package func find(_ number: UInt32) -> Unmanaged<ManagedFile>? {
        var index = Self.start(number, mask)
        while let file = slots[index].file {
            if slots[index].key == number { return file }
            index = (index + 1) & mask
        }
        return nil
    }

    /// A table with one more file.
    func adding(_ file: ManagedFile) -> FileTable {
        FileTable(files + [file])
    }

    /// A table without some files.
    func removing(_ numbers: Set<UInt64>) -> FileTable {
        FileTable(files.filter { !numbers.contains($0.number) })
    }
}
