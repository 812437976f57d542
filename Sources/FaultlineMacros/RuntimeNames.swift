/// The names that expansions share with the library and with each other.
enum RuntimeNames {
    /// Stands before every name of the library, so that a name of the user's own cannot take its place.
    static let prefix = "Faultline."
    /// The only storage that an expansion adds to a class.
    static let core = "_$core"
    static let modelType = "_$modelType"
    static let coreAddress = "_$coreAddress"
    static let faultLabel = "_$fault"
    /// The description of one class, which its subclasses do not have.
    static let ownType = "_$ownType"
    /// The metadata of a class's properties, by the key paths of any subclass.
    static let fields = "_$fields"
    /// The core, as accessors reach it in a class that may inherit from a model.
    static let values = "_$values"
    /// The slot of a property, by its position in the class that declares it.
    static let slot = "_$slot"
    /// Calls `awakeFromFetch` of an object before an ephemeral property of it is used.
    static let awaking = "\(prefix)_$awakeFromFetch"
    /// The root class of a hierarchy.
    static let root = "_$Root"
    /// The type of the markers behind persisted properties.
    ///
    /// A marker takes no space; it lets the compiler check that an initializer sets its property.
    static let marker = "_SwiftDataNoType"
}
