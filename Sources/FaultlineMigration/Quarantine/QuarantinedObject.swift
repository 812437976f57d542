/// An object that a migration could not convert, with the values that it had in the version before.
public struct QuarantinedObject: Sendable {
    /// Its identifier in the quarantine, which no other object gets.
    public let id: UInt64
    /// The version that the stage read which could not convert it.
    public let fromVersion: String
    /// The version that the stage leads to.
    public let toVersion: String
    /// Its entity in the version before.
    public let entityName: String
    /// Its number there, as `PersistentIdentifier` shows it.
    public let number: UInt64
    /// What it contradicts.
    public let rule: MigrationReport.Failure.Rule
    /// The property that it is about, if it is about one.
    public let propertyName: String?
    /// What was thrown, or is wrong, in words.
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

    /// Its attributes and relationships to one, in the order of the class.
    public var propertyNames: [String] { values.map(\.name) }

    /// A value; nil for nil, and where there is no property of that name.
    public subscript(name: String) -> QuarantinedValue? { values.first { $0.name == name }?.value }

    /// The blob that has a value, where it lies out of the row.
    func blob(_ name: String) -> UInt64? { values.first { $0.name == name }?.blob }

    /// Blobs of all values that lie out of the row.
    package var blobs: [UInt64] { values.compactMap(\.blob) }
}
