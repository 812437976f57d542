import Glibc

/// Chooses a large attribute for each installed package: its largest regular file that is not too large.
///
/// Packages are served in the order of the set until the sum is used up; a package whose file would exceed it gets
/// none. Of equally large files the first in the list is taken. Unreadable files are skipped, and so are symbolic
/// links: the file behind one belongs to another package.
package struct LargestFiles: Sendable {
    /// The largest file taken, in bytes.
    package var fileByteCountMax = 4 << 20
    /// All files together, in bytes.
    package var totalByteCountMax = 512 << 20

    package init() {}

    /// Sets `file` of the installed packages of `set` after the lists in `listFolder`.
    package func choose(for set: inout PackageSet, listFolder: String) {
        var rest = totalByteCountMax
        for place in set.packages.indices where set.packages[place].isInstalled {
            let package = set.packages[place]
            let names = ["\(package.name):\(package.architecture).list", "\(package.name).list"]
            var list: [UInt8]?
            for name in names where list == nil { list = Self.contents(of: listFolder + "/" + name) }
            guard var list else {
                set.report.skipUnreadable("\(listFolder)/\(names[1])", "the list of files cannot be read")
                continue
            }
            guard let file = largest(in: &list), file.byteCount <= rest else { continue }
            rest -= file.byteCount
            set.packages[place].file = file
        }
    }

    /// The largest readable regular file among the paths of `list`, one a line.
    func largest(in list: inout [UInt8]) -> ImportedFile? {
        list.append(UInt8(ascii: "\n"))
        return list.withUnsafeMutableBytes { bytes in
            var best: (path: UnsafeMutableRawPointer, byteCount: Int)?
            var start = 0
            while let base = bytes.baseAddress, let end = UnsafeRawBufferPointer(rebasing: bytes[start...]).firstNewline
            {
                bytes[start + end] = 0
                let path = base + start
                start += end + 1
                var status = stat()
                let words = path.assumingMemoryBound(to: CChar.self)
                guard end > 0, lstat(words, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
                let byteCount = Int(status.st_size)
                guard byteCount > best?.byteCount ?? 0, byteCount <= fileByteCountMax, access(words, R_OK) == 0 else {
                    continue
                }
                best = (path, byteCount)
            }
            guard let best else { return nil }
            let path = String(cString: best.path.assumingMemoryBound(to: CChar.self))
            // A path that is not UTF-8 would not come back as the same bytes.
            guard !path.unicodeScalars.contains("\u{FFFD}") else { return nil }
            return ImportedFile(path: path, byteCount: best.byteCount)
        }
    }

    /// The bytes of a file, or nil where it cannot be read.
    static func contents(of path: String) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, let size = Int(exactly: status.st_size), size >= 0 else { return nil }
        var bytes: [UInt8] = []
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: max(size, 4096) + 1, alignment: 16)
        defer { piece.deallocate() }
        while true {
            let count = Glibc.read(descriptor, piece.baseAddress, piece.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 { return bytes }
            bytes.append(contentsOf: piece[..<count])
        }
    }
}
