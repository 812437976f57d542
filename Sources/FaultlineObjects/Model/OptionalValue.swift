/// An optional type, as an existential.
protocol OptionalValue {
    static var wrappedType: any Any.Type { get }
}

extension Optional: OptionalValue {
    static var wrappedType: any Any.Type { Wrapped.self }
}
