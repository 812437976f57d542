extension FileTable {
    /// The error for a location in a segment that is not in the table.
    ///
    /// A location has the low 32 bits of a file's number, but not its kind, so the message has both possible names.
    func missing(_ what: String, _ location: Location) -> LogError {
        missing(what, [.hotSegment, .coldSegment], UInt64(location.segment))
    }

    /// The error for a blob's placement in a segment that is not in the table.
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
