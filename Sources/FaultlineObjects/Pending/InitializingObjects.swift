/// New objects that were inserted into a context while their initializers ran.
struct InitializingObjects {
    /// Whether an inserted object may have the flag `initializing`.
    var areThere = false
    /// Objects whose lifecycle code is called once they are complete.
    var unawakened: [ObjectHandle] = []
}
