/// The keys of a row in the secondary and text indexes of its entity.
package struct DerivedKeys: Sendable {
    /// One for each secondary index; empty for a row that is not stored yet.
    var secondary: [[UInt8]] = []
    /// Those of each text index; nil where they stay the same; empty for a row that is not stored yet.
    var texts: [TextKeys?] = []

    /// The keys of a row that is not stored yet.
    static let none = DerivedKeys()
}
