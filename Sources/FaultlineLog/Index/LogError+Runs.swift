extension LogError {
    /// A run does not verify. It is derived data: the caller drops it and rebuilds the index from the records.
    static func damagedRun(_ path: String, at offset: UInt64, _ problem: String) -> LogError {
        LogError(
            .damaged, "\(path) at byte \(offset): \(problem). The index is rebuilt from the records.", path: path,
            offset: offset)
    }
}
