/// Decides about the files that a store does not need any more.
protocol UnneededFiles: Sendable {
    /// Takes the files among those given that are needed for another purpose out of the store's directory.
    ///
    /// - Parameters:
    ///   - paths: The files.
    ///   - mayMove: Whether to move files now; false under the writer lock, where a later call moves them.
    /// - Returns: The files to be removed.
    func take(_ paths: [String], mayMove: Bool) -> [String]

    /// Removes some of the files that were taken: the disk is full.
    ///
    /// - Returns: Whether that freed bytes.
    @discardableResult
    func giveWay() -> Bool
}
