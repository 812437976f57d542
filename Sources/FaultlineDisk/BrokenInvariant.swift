/// A rule that a type keeps between its operations, and that a check found broken: a defect of Faultline.
///
/// Tests and simulations call the checks; a service never does.
package struct BrokenInvariant: Error, Equatable, CustomStringConvertible {
    /// The name of the type.
    package let type: String
    /// The rule, as the type's comment lists it.
    package let rule: String
    /// The place that breaks it, and the values found there.
    package let detail: String

    package init(_ type: String, _ rule: String, _ detail: String) {
        self.type = type
        self.rule = rule
        self.detail = detail
    }

    package var description: String { "\(type) breaks its rule \"\(rule)\": \(detail)" }
}
