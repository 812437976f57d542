extension String {
    /// The text, or its beginning with a mark if it has more than 64 scalars: for messages about text from outside of
    /// the process.
    package var excerpt: String {
        let scalars = unicodeScalars.prefix(65)
        guard scalars.count > 64 else { return self }
        return String(UnicodeScalarView(scalars.dropLast())) + "…"
    }
}
