/// Has a container for the contexts that it owns: a coordinator of stores, which may come after its contexts.
package protocol ContainerHolder: AnyObject {
    /// The container; nil as long as there is none.
    var container: ModelContainer? { get }
}
