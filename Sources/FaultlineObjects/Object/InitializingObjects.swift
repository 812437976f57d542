internal import FaultlineStore

/// New objects that were inserted into a context while their initializers ran.
struct InitializingObjects {
    /// Whether an inserted object may have the flag `initializing`.
    var areThere: Bool { forget != nil }
    /// Forgets an object whose initializer has failed, by its temporary number; nil while there is no such object.
    ///
    /// A function, because the `deinit` of an object calls it: the state of objects names no operation on them.
    var forget: ((ContextCore, _ number: UInt64, _ values: Draft, EntityHome) -> Void)?
    /// Objects whose lifecycle code is called once they are complete.
    var unawakened: [ObjectHandle] = []
}
