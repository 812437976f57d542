/// A mistake in a mapping file, and its place.
package struct MappingFileError: Error, Equatable, CustomStringConvertible {
    /// The kinds of mistakes.
    package enum Code: Hashable, Sendable {
        /// It is no JSON.
        case syntax
        /// An object has an unknown key.
        case unknownKey
        /// An object lacks a key.
        case missingKey
        /// A value has the wrong type.
        case wrongValue
        /// The file, or a filter in it, exceeds a bound.
        case tooLarge
        /// The old version has no such property.
        case unknownProperty
    }

    /// The kind of the mistake.
    package let code: Code
    /// The place: keys and indexes from the top, such as `mappings[0].attributes.title`; empty for the whole file.
    package let path: String
    /// The mistake, and the expected value.
    package let message: String

    /// The place, and the mistake.
    package var description: String { path.isEmpty ? message : "\(path): \(message)" }
}
