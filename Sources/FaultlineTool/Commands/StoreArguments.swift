import ArgumentParser

/// The arguments of every command that reads a store.
struct StoreArguments: ParsableArguments {
    @Argument(help: "The store's directory.")
    var store: String

    @Flag(help: "Prints JSON, one object a line.")
    var json = false
}
