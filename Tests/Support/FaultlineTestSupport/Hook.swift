/// A closure as the value of a task-local property.
///
/// Optimized code of Swift 6.3 crashes in `withValue` if the property's type is a function type.
package struct Hook<Argument>: Sendable {
    private let body: @Sendable (Argument) throws -> Void

    /// Wraps a closure.
    package init(_ body: @escaping @Sendable (Argument) throws -> Void) { self.body = body }

    /// Calls the closure, and throws its error.
    package func callAsFunction(_ argument: Argument) throws { try body(argument) }
}

extension Hook where Argument == Void {
    /// Calls the closure, and throws its error.
    package func callAsFunction() throws { try self(()) }
}
