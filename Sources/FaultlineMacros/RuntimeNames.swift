/// The names that expansions share with the library and with each other.
enum RuntimeNames {
    /// Stands before every name of the library, so that a name of the user's own cannot take its place.
    static let prefix = "Faultline."
    /// The only storage that an expansion adds to a class.
    static let core = "_$core"
    static let modelType = "_$modelType"
    static let coreAddress = "_$coreAddress"
    static let faultLabel = "_$fault"
    /// The type of the markers behind persisted properties.
    ///
    /// A marker takes no space; it lets the compiler check that an initializer sets its property.
    static let marker = "_SwiftDataNoType"
}
