/// What is wrong with a mapping file, and where.
package struct MappingFileError: Error, Equatable, CustomStringConvertible {
    /// The kinds of mistakes.
    package enum Code: Hashable, Sendable {
        /// It is no JSON.
        case syntax
        /// An object has a key that means nothing there.
        case unknownKey
        /// An object lacks a key.
        case missingKey
        /// A value is of another kind than is wanted there.
        case wrongValue
        /// The file, or a filter in it, exceeds a bound.
        case tooLarge
        /// A property of the old version is named that is not there.
        case unknownProperty
    }

    /// What kind of mistake it is.
    package let code: Code
    /// Where: keys and positions from the top, as in `mappings[0].attributes.title`; empty for the file as a whole.
    package let path: String
    /// What is wrong there, and what is wanted.
    package let message: String

    /// The place, and what is wrong there.
    package var description: String { path.isEmpty ? message : "\(path): \(message)" }
}
