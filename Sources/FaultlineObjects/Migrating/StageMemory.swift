/// Counts and limits the memory that the objects of a stage's context take.
package struct StageMemory {
    /// The unsaved objects.
    var unsaved = UnsavedBytes()
    /// Is called with the bytes of a large value before memory is taken for it.
    package var willHold: ((_ byteCount: Int) -> Void)?
}
