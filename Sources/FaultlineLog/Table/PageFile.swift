/// A checkpoint file from which pages are read.
///
/// Page handles that name the file hold it. When the manifest no longer lists it and the last handle is gone, the file
/// is removed (`ManagedFile`).
// Safe because the stored properties are immutable.
package final class PageFile: Sendable {
    package let managed: ManagedFile
    /// Pages in the file, listed or not.
    let pageCount: Int
    var number: UInt64 { managed.number }

    init(_ managed: ManagedFile, pageCount: Int) {
        self.managed = managed
        self.pageCount = pageCount
    }
}
