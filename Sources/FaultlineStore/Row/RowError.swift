/// A fault of a layout, a row or a value's bytes.
package struct RowError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Code: String, Hashable, Sendable {
        /// A layout of the registry that this release could not have written.
        case badLayout
        /// A column's kind changed to one that the stored values cannot be read as.
        case incompatibleColumn
    }

    package let code: Code
    /// The fault, and the remedy.
    package let message: String

    package init(code: Code, message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { "\(code.rawValue): \(message)" }
}
