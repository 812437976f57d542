/// An object that a migration could not convert, with its values in the version before.
public struct QuarantinedObject: Sendable {
    /// Its identifier in the quarantine, which no other object gets.
    public let id: UInt64
    /// The version that the failed stage read.
    public let fromVersion: String
    /// The version that the stage leads to.
    public let toVersion: String
    /// Its entity in the version before.
    public let entityName: String
    /// Its number there, as `PersistentIdentifier` shows it.
    public let number: UInt64
    /// The rule it breaks.
    public let rule: MigrationReport.Failure.Rule
    /// The property concerned, if there is one.
    public let propertyName: String?
    /// The error or the violation, in words.
    public let reason: String
    private let values: [QuarantinedValueRecord]

    init(_ id: UInt64, _ row: QuarantinedRow) {
        self.id = id
        fromVersion = row.from
        toVersion = row.to
        entityName = row.entity
        number = row.object
        rule = MigrationReport.Failure.Rule(rawValue: row.rule) ?? .code
        propertyName = row.property
        reason = row.reason
        values = row.values
    }

    /// Its attributes and to-one relationships, in the order of the class.
    ///
    /// - Complexity: O(p) for p properties.
    public var propertyNames: [String] { values.map(\.name) }

    /// A value; nil for nil, and if there is no property of that name.
    ///
    /// - Complexity: O(p) for p properties.
    public subscript(name: String) -> QuarantinedValue? { values.first { $0.name == name }?.value }

    /// The blob with a large value.
    func blob(_ name: String) -> UInt64? { values.first { $0.name == name }?.blob }

    /// Blobs of all large values.
    package var blobs: [UInt64] { values.compactMap(\.blob) }
}
