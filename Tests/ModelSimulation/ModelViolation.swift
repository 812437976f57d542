/// A store did not hold what it should, or said something else than it should.
package struct ModelViolation: Error, Sendable, CustomStringConvertible {
    package let description: String
    init(_ description: String) { self.description = description }
}
