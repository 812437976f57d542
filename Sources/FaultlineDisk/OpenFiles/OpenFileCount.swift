/// The files of stores that a process has open, at one moment.
public struct OpenFileCount: Hashable, Sendable {
    /// All open files, with those for locks.
    package var open = 0
    /// Those for locks.
    package var locks = 0
    /// Files that are closed until they are read again.
    package var resting = 0
    /// The number of files that are kept open where the rest may be closed.
    package var limit: Int

    package init(limit: Int) {
        self.limit = limit
    }

    /// The counts, in a sentence.
    package var fact: String {
        "This process has \(open) files of stores open, \(locks) of them for locks, and keeps at most \(limit) open "
            + "where it may close some."
    }

    /// The remedy for a file that the system refused to open.
    package var remedy: String {
        "\(fact) Raise the system's limit (ulimit -n), or close stores or other files of this process, then try again."
    }
}
