/// An optional value, as an existential.
protocol OptionalNil {
    var isNilValue: Bool { get }
    /// The value inside; nil for nil.
    var wrapped: Any? { get }
    static func makeNil() -> Any
}

extension Optional: OptionalNil {
    var isNilValue: Bool { self == nil }
    var wrapped: Any? { self }
    static func makeNil() -> Any { Self.none as Any }
}
