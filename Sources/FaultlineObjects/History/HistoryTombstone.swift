/// The last values of a deleted object: those of attributes with `.preserveValueOnDeletion`, and no others.
///
/// A value that lies out of its row, because it has 4 KiB or more or is `.externalStorage`, is not among them. What was
/// kept as a raw value is the raw value, any other `Codable` value a `CodableValue`.
public struct HistoryTombstone<Model: PersistentModel>: Sequence, Sendable {
    let values: [(slot: Int, name: String, value: any Sendable)]

    /// The values in the order of the properties.
    public func makeIterator() -> AnyIterator<Any> {
        var rest = values.makeIterator()
        return AnyIterator { rest.next()?.value }
    }

    /// The value of an attribute; nil for nil, and where it was not preserved.
    public subscript(keyPath: PartialKeyPath<Model>) -> (any Sendable)? {
        guard let slot = Model._$modelType.slots[keyPath] else { return nil }
        return values.first { $0.slot == slot }?.value
    }

    /// The value of an attribute by its name; nil for nil, and where it was not preserved.
    public subscript(name: String) -> (any Sendable)? { values.first { $0.name == name }?.value }
}
