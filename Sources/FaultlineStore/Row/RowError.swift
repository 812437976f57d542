/// What is wrong with a layout, a row or a value's bytes.
package struct RowError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, Hashable, Sendable {
        /// A layout of the registry is not one that this release could have written.
        case badLayout
        /// A column's kind changed to one that the stored values cannot be read as.
        case incompatibleColumn
    }

    package let code: Code
    /// What happened, and what can be done.
    package let message: String

    package init(code: Code, message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { "\(code.rawValue): \(message)" }
}
