internal import FaultlineDisk

extension ModelContainer {
    /// The number of files that all stores of this process together keep open: at first a quarter of the process's soft
    /// limit (`ulimit -n`), and at least 16.
    ///
    /// Above it, files that do not change any more are closed while they are not read, and the next read opens them
    /// again. Files that are written, those for locks, and those of stores that are open for reading only or lie on a
    /// file server stay open and count. If they leave less than a quarter of the limit, the logger gets a warning, and
    /// files that do not change have that quarter nevertheless.
    ///
    /// - Complexity: Setting it closes the files above it, O(open files).
    public static var openFileLimit: Int {
        get { OpenFiles.shared.limit }
        set { OpenFiles.shared.limit = newValue }
    }

    /// The number of files that all stores of this process together have open, with those for locks.
    ///
    /// - Complexity: O(1), without a system call.
    public static var openFileCount: Int { OpenFiles.shared.count.open }
}
