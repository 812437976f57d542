/// The names that a file declares and uses; those that are private to it do not count.
struct FileSymbols: Encodable {
    /// Types that are not nested in others.
    var types: Set<String> = []
    /// Members of extensions, types too.
    var extensionMembers: Set<String> = []
    /// Members of types and protocols, cases and types too.
    var typeMembers: Set<String> = []
    /// Private members of types and extensions.
    var privateMembers: Set<String> = []
    /// Names bound within the file: parameters, variables of functions, generic parameters, private types.
    var bound: Set<String> = []
    /// Names in types, and names in expressions that do not follow a point.
    var names: Set<String> = []
    /// Names in expressions that follow a point.
    var memberNames: Set<String> = []
}
