internal import FaultlineLog

/// Identifiers by their parts.
extension PersistentIdentifier {
    /// The number of the object within its entity and store, from 1; nil for an object that was never saved, and for one
    /// of a `DataStore`, which has keys of its own.
    ///
    ///     if let key = photo.persistentModelID.primaryKey { links.append("/photos/\(key)") }  // /photos/17
    ///
    /// The store never gives it to another object of the entity. `existing(primaryKey:as:)` finds the object.
    ///
    /// - Complexity: O(1).
    public var primaryKey: UInt64? { isTemporary || dataStore != nil ? nil : number }

    /// The text of the object's primary key: its number, or the key that a `DataStore` has given it; nil for an object
    /// that was never saved.
    ///
    /// - Complexity: O(1).
    public var primaryKeyText: String? {
        if isTemporary { return nil }
        guard let dataStore else { return String(number) }
        return dataStore.key
    }

    /// The identifier with the given parts, whether or not there is such an object.
    ///
    ///     let id = try PersistentIdentifier.identifier(for: store, entityName: "Photo", primaryKey: 17)
    ///
    /// - Parameters:
    ///   - storeIdentifier: The store: `storeIdentifier` of another identifier, 32 hexadecimal digits in lower case, or
    ///     `identifier` of a `DataStore` of an open container.
    ///   - entityName: The name of the entity, at most 4,096 bytes.
    ///   - primaryKey: The number, or text of decimal digits: its description is read. For a `DataStore` any value with a
    ///     description of 1 to 1,024 bytes.
    /// - Returns: An identifier that equals that of the object.
    /// - Throws: `SwiftDataError.unknownSchema` if no store, entity or object can have the parts; it names the part.
    /// - Complexity: O(1).
    public static func identifier<T: Comparable & CustomStringConvertible & Codable & Hashable>(
        for storeIdentifier: String, entityName: String, primaryKey: T
    ) throws -> PersistentIdentifier {
        if let keys = dataStore(named: storeIdentifier) {
            let key = primaryKey.description
            if let identifier = ofDataStore(keys, entityName, key: key) { return identifier }
            throw invalid(
                "entityName has at most \(nameByteCountMax) bytes, and not \(entityName.utf8.count); primaryKey has 1 to \(DataStoreKeys.keyByteCountMax) bytes, and not \(key.utf8.count)."
            )
        }
        guard let store = store(storeIdentifier) else {
            throw invalid("storeIdentifier has 32 digits 0 to 9, a to f, not \"\(storeIdentifier.excerpt)\".")
        }
        guard entityName.utf8.count <= nameByteCountMax else {
            throw invalid("entityName has at most \(nameByteCountMax) bytes, and not \(entityName.utf8.count).")
        }
        let text = primaryKey.description
        // A number has one text: no sign, no leading zeros.
        guard let number = UInt64(text), (1...Limits.recordIDMax).contains(number), String(number) == text else {
            throw invalid("primaryKey is a number from 1 to \(Limits.recordIDMax), and not \"\(text.excerpt)\".")
        }
        return PersistentIdentifier(storeID: store, entityName: entityName, number: number)
    }

    private static func invalid(_ explanation: String) -> SwiftDataError {
        .unknownSchema.explained("No object can have such an identifier: \(explanation)")
    }
}
