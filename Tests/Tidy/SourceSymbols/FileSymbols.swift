/// The names that a Swift file declares and uses; those that are private to it do not count.
package struct FileSymbols: Codable, Sendable {
    /// Types that are not nested in others.
    package var types: Set<String> = []
    /// Members of extensions, types too.
    package var extensionMembers: Set<String> = []
    /// Members of types and protocols, cases and types too.
    package var typeMembers: Set<String> = []
    /// Private members of types and extensions.
    package var privateMembers: Set<String> = []
    /// Names bound within the file: parameters, variables of functions, generic parameters, private types.
    package var bound: Set<String> = []
    /// Names in types, and names in expressions that do not follow a point.
    package var names: Set<String> = []
    /// Names in expressions that follow a point.
    package var memberNames: Set<String> = []

    package init() {}
}
