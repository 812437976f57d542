extension FileTable {
    /// That a location of a table names a segment which is not among these.
    ///
    /// A location has the low 32 bits of a file's number, and does not tell the kind; so both names are given that the
    /// file may have.
    func missing(_ what: String, _ location: Location) -> LogError {
        missing(what, [.hotSegment, .coldSegment], UInt64(location.segment))
    }

    /// That a blob's placement names a segment which is not among these.
    func missing(_ id: RecordID, _ placement: BlobPlacement) -> LogError {
        missing("Blob \(id)", [.blobSegment], placement.segment)
    }

    private func missing(_ what: String, _ kinds: [FileKind], _ number: UInt64) -> LogError {
        let names = kinds.map { FileName.numbered($0, number) }
        // All are in one directory.
        let folder = files.first.flatMap { file in file.path.lastIndex(of: "/").map { file.path[...$0] } } ?? ""
        return .damaged(
            "\(what) lies in \(names.joined(separator: " or ")), and there is no such file.",
            names.count == 1 ? folder + names[0] : String(folder.dropLast()))
    }
}
