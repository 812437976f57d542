import ArgumentParser

/// What every command that looks into a store takes.
struct StoreArguments: ParsableArguments {
    @Argument(help: "The store's directory.")
    var store: String

    @Flag(help: "Prints JSON, one object a line.")
    var json = false
}
