/// New objects that a context took in while their initializers ran.
struct InitializingObjects {
    /// Whether an inserted object may have the flag `initializing`.
    var areThere = false
    /// Objects whose code is called once they are complete.
    var unawakened: [ObjectHandle] = []
}
