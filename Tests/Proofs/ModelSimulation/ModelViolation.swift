/// An error for a store that does not match the model.
package struct ModelViolation: Error, Sendable, CustomStringConvertible {
    package let description: String
    init(_ description: String) { self.description = description }
}
