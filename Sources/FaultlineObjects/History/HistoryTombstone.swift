/// The last values of a deleted object: only those of attributes with `.preserveValueOnDeletion`.
///
/// It has no values that are stored outside their row, which are those of 4 KiB or more and `.externalStorage`. An enum
/// that is stored as a raw value has the raw value, any other `Codable` value is a `CodableValue`.
public struct HistoryTombstone<Model: PersistentModel>: Sequence, Sendable {
    let values: [(slot: Int, name: String, value: any Sendable)]

    /// The values in the order of the properties.
    public func makeIterator() -> AnyIterator<Any> {
        var rest = values.makeIterator()
        return AnyIterator { rest.next()?.value }
    }

    /// The value of an attribute; nil for nil, and if it was not preserved.
    public subscript(keyPath: PartialKeyPath<Model>) -> (any Sendable)? {
        guard let slot = Model._$modelType.slots[keyPath] else { return nil }
        return values.first { $0.slot == slot }?.value
    }

    /// The value of an attribute by its name; nil for nil, and if it was not preserved.
    public subscript(name: String) -> (any Sendable)? { values.first { $0.name == name }?.value }
}
