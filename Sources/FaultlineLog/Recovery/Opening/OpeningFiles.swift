/// The files of a store that is opened.
struct OpeningFiles {
    /// The manifest in force.
    let reading: ManifestReader.Reading
    let directory: StoreDirectory
    /// The files that the manifest does not list.
    let leftovers: Leftovers.Plan
    /// The segments that the manifest lists, of all kinds.
    let segments: [UInt64: ManagedFile]
    /// The checkpoint files that verify; none if the tables do not come from a checkpoint.
    var pageFiles: [UInt64: PageFile]
    /// The hot segments, in the order of their numbers.
    let hot: [UInt64]
    /// The unsealed hot segment: the end of the log.
    let last: ManagedFile
    let lastEntry: ManifestState.FileEntry

    var state: ManifestState { reading.state }
}
