extension LogError {
    /// The error for a run that does not verify.
    static func damagedRun(_ path: String, at offset: UInt64, _ problem: String) -> LogError {
        damagedDerived("\(path) at byte \(offset): \(problem).", path, offset)
    }
}
