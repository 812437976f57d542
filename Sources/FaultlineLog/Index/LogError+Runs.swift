extension LogError {
    /// A run does not verify. It is derived data: an opening that finds its header or footer damaged makes the index again from the records.
    static func damagedRun(_ path: String, at offset: UInt64, _ problem: String) -> LogError {
        LogError(
            .damaged,
            "A run of an index is damaged: \(problem). Close the store and cut this file to 0 bytes; the next opening makes the index again "
                + "from the records.", path: path, offset: offset)
    }
}
