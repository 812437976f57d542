import FaultlineDisk

/// Corrects the checksums of a file, by docs/FileFormat.md and not by the code that reads them, so that readers also
/// examine the bytes behind them.
package struct ChecksumRepair {
    private var bytes: [UInt8]
    /// The salt and the number in the file's header.
    private var place: (salt: UInt64, number: UInt64) = (0, 0)

    /// The bytes of a file with a name, with correct checksums.
    ///
    /// - Parameters:
    ///   - bytes: The content of the file.
    ///   - name: Its name, which determines its kind.
    /// - Returns: The same number of bytes.
    package static func repaired(_ bytes: [UInt8], name: String) -> [UInt8] {
        var repair = ChecksumRepair(bytes: bytes)
        if name == "IDENTITY" {
            for start in [0, 4_096] { repair.seal(start..<start + 4_092, into: start + 4_092) }
            return repair.bytes
        }
        guard bytes.count >= 64 else { return bytes }
        repair.seal(0..<60, into: 60)
        repair.place = (repair.u64(40), repair.u64(32))
        switch name.first {
        case "t": repair.sealCheckpoint()
        case "r": repair.sealRun()
        default: repair.sealFrames()
        }
        return repair.bytes
    }

    // MARK: Frames, section 5

    private mutating func sealFrames() {
        var start = 64
        var previous: UInt32 = 0
        while start + 48 <= bytes.count {
            if u64(start) == 0, u64(start + 8) == 0 { break }
            let body = start + 48
            // An excessive size ends at the file's end.
            let size = min(Int(u32(start + 4)), bytes.count - body) & ~7
            set(UInt32(size), start + 4)
            var record = body
            var headers: UInt32 = 0
            var count = 0
            while record + 24 <= body + size, count < 65_535 {
                let room = body + size - record - 24
                let isLast = Int(u32(record + 4)) >= room
                // A blob's record continues to the end of its frame, and has its total size modulo 2^32.
                let isBlob = bytes[record + 22] == 6
                let stored = isBlob || isLast ? room : Int(u32(record + 4))
                if !isBlob, isLast { set(UInt32(room), record + 4) }
                let whole = 24 + min((stored + 7) & ~7, room)
                let covered = isBlob ? min(64, whole) : whole
                if !isBlob { for pad in record + 24 + stored..<record + whole { bytes[pad] = 0 } }
                set(checksum(record + 4..<record + covered) ^ binding(record), record)
                headers = checksum(record..<record + 24, headers)
                if isBlob { sealChunks(record + 24, room) }
                record += whole
                count += 1
            }
            for rest in record..<body + size { bytes[rest] = 0 }
            set(UInt32(record - body), start + 4)
            bytes[start + 12] = UInt8(truncatingIfNeeded: count)
            bytes[start + 13] = UInt8(truncatingIfNeeded: count >> 8)
            let isSkippable = bytes[start + 15] & 0x80 != 0
            set(isSkippable ? checksum(body..<record) : headers, start + 8)
            if u64(start + 24) > UInt64(start) { set(UInt64(start), start + 24) }
            set(previous, start + 32)
            set(checksum(start + 4..<start + 48, seed(start)), start)
            previous = u32(start)
            start = record
        }
    }

    /// Corrects the chunk table of a blob whose payload begins there, section 10.2; for blobs of one group.
    private mutating func sealChunks(_ payload: Int, _ size: Int) {
        guard size >= 40 else { return }
        let count = Int(min(u32(payload + 20), 510))
        let table = 16 + count * 8
        let end = payload + 40 + Int(min(u64(payload + 8), 1 << 30)) + table
        guard count > 0, end <= payload + size else { return }
        let start = end - table
        var chunk = payload + Int(min(u64(start + 8), 1 << 30))
        for entry in 0..<count {
            let stored = Int(u32(start + 16 + entry * 8) & 0x7FFF_FFFF)
            guard chunk + stored <= start else { break }
            set(checksum(chunk..<chunk + stored), start + 16 + entry * 8 + 4)
            chunk += stored
        }
        set(checksum(start + 4..<end, seed(start)), start)
    }

    // MARK: Derived files, sections 9 and 13

    private mutating func sealCheckpoint() {
        let footer = bytes.count - 64
        guard footer >= 4_096 else { return }
        let map = Int(min(u64(footer + 8), UInt64(footer)))
        for page in stride(from: 4_096, to: map - 4_095, by: 4_096) {
            set(checksum(page + 4..<page + 4_096, seed(page)), page)
        }
        set(checksum(map..<footer, seed(map)), footer + 24)
        set(checksum(footer..<footer + 60, seed(footer)), footer + 60)
    }

    private mutating func sealRun() {
        let footer = bytes.count - 128
        guard footer >= 64 else { return }
        let filter = Int(min(u64(footer + 48), UInt64(footer)))
        var block = 64
        while block + 24 <= filter {
            let end = min(filter, block + 24 + Int(bytes[block + 4]) + Int(bytes[block + 5]) << 8)
            set(checksum(block + 4..<end, seed(block)), block)
            block = end
        }
        var page = filter
        while page + 4 < footer {
            let end = min(footer, page + 4_100)
            set(checksum(page..<end - 4, seed(page)), end - 4)
            page = end
        }
        set(checksum(footer..<footer + 124, seed(footer)), footer + 124)
    }

    // MARK: Checksums, section 3

    private mutating func seal(_ range: Range<Int>, into place: Int) {
        guard place + 4 <= bytes.count else { return }
        set(checksum(range), place)
    }

    private func checksum(_ range: Range<Int>, _ seed: UInt32 = 0) -> UInt32 {
        bytes.withUnsafeBytes { CRC32C.checksum(UnsafeRawBufferPointer(rebasing: $0[range]), seed: seed) }
    }

    private func seed(_ offset: Int) -> UInt32 {
        withUnsafeBytes(of: (place.salt, place.number, UInt64(offset))) { CRC32C.checksum($0) }
    }

    private func binding(_ offset: Int) -> UInt32 {
        withUnsafeBytes(of: (place.salt, place.number)) { CRC32C.checksum($0) } ^ UInt32(truncatingIfNeeded: offset / 8)
    }

    private func u32(_ offset: Int) -> UInt32 {
        bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self) }
    }

    private func u64(_ offset: Int) -> UInt64 {
        bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self) }
    }

    private mutating func set(_ value: some FixedWidthInteger, _ offset: Int) {
        bytes.withUnsafeMutableBytes { $0.storeBytes(of: value, toByteOffset: offset, as: type(of: value)) }
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }
}
