internal import FaultlineLog

/// The identity of an object: store, entity, and a number that no other object gets; an undo of a deletion restores it.
///
/// Before its first save an object has a temporary identifier without a store. Identifiers are values, valid across
/// contexts, actors and processes. A decoded identifier equals the original; a temporary one only in the process that
/// encoded it, and elsewhere it equals none and leads to no object. Its text never leads to an object.
///
/// An identifier with the `originalName` of a renamed entity leads to the same object, whose `persistentModelID` has the
/// new name, and so is not equal. One with a name between the two leads to none. If another entity has the original name
/// now, the identifier leads to an object of that one, or to none: save such identifiers anew with the renaming.
public struct PersistentIdentifier: Hashable, Identifiable, Comparable, Codable, Sendable {
    /// The opaque part of an identifier.
    public struct ID: Hashable, Sendable {
        let storeHigh: UInt64
        let storeLow: UInt64
        /// Number within the entity; for a temporary identifier, drawn from a counter of the process.
        let number: UInt64
        let entityName: String
    }

    /// The identifier itself, which makes it `Identifiable`.
    public let id: ID

    /// Name of the object's entity.
    public var entityName: String { id.entityName }

    /// Identifier of the store, nil for an object that was never saved.
    public var storeIdentifier: String? {
        if isTemporary { return nil }
        return dataStore?.keys.identifier ?? IdentifierText.text(high: id.storeHigh, low: id.storeLow)
    }

    /// The store value for an unsaved object of this process.
    static let unsaved: (UInt64, UInt64) = (0, 0)
    /// The store value for a temporary identifier of another process.
    static let decodedTemporary: (UInt64, UInt64) = (0, 1)

    package var isTemporary: Bool { id.storeHigh == 0 && id.storeLow <= Self.decodedTemporary.1 }
    package var number: UInt64 { id.number }
    /// The temporary number of an unsaved object of this process; nil for a stored object, and for a temporary
    /// identifier of another process, which names no object.
    package var unsavedNumber: UInt64? { storeID == Self.unsaved ? id.number : nil }
    package var storeID: (UInt64, UInt64) { (id.storeHigh, id.storeLow) }

    /// The number, if an object of the store can have the identifier.
    @inline(__always)
    func storedNumber(in storeID: (UInt64, UInt64)) -> RecordID? {
        guard id.storeHigh == storeID.0, id.storeLow == storeID.1, id.number > 0, id.number <= Limits.recordIDMax else {
            return nil
        }
        return id.number
    }

    package init(storeID: (UInt64, UInt64), entityName: String, number: UInt64) {
        id = ID(storeHigh: storeID.0, storeLow: storeID.1, number: number, entityName: entityName)
    }

    /// Orders by store, then by the entity's name, then by number, which is the order of creation.
    public static func < (left: PersistentIdentifier, right: PersistentIdentifier) -> Bool {
        let leftKey = (left.id.storeHigh, left.id.storeLow, left.id.entityName, left.id.number)
        let rightKey = (right.id.storeHigh, right.id.storeLow, right.id.entityName, right.id.number)
        return leftKey < rightKey
    }

    private enum CodingKeys: String, CodingKey {
        case store, entity, number, key, seal
    }

    /// Decodes an identifier that `encode(to:)` wrote.
    ///
    /// - Throws: `DecodingError` if a part is missing, if the store is not 32 hexadecimal digits that a store can have,
    ///   if the name has more than 4,096 bytes, or if no object can have the number. For an object of a `DataStore`: if no
    ///   container with that store was opened in the process, or if the key has more than 1,024 bytes.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let text = try container.decodeIfPresent(String.self, forKey: .store)
        let name = try container.decode(String.self, forKey: .entity)
        if let key = try container.decodeIfPresent(String.self, forKey: .key) {
            self = try Self.ofDataStore(text ?? "", name, key, container)
            return
        }
        let number = try container.decode(UInt64.self, forKey: .number)
        var store = Self.decodedTemporary
        if let text {
            guard let parsed = Self.store(text) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .store, in: container, debugDescription: "Not a store identifier: 32 hexadecimal digits.")
            }
            store = parsed
        }
        guard name.utf8.count <= Self.nameByteCountMax else {
            throw DecodingError.dataCorruptedError(
                forKey: .entity, in: container,
                debugDescription: "The name of an entity has at most \(Self.nameByteCountMax) bytes.")
        }
        let numberMax = Self.numberMax(isTemporary: text == nil)
        guard (1...numberMax).contains(number) else {
            throw DecodingError.dataCorruptedError(
                forKey: .number, in: container,
                debugDescription: "The number of an object is from 1 to \(numberMax), and not \(number).")
        }
        if text == nil, let seal = try container.decodeIfPresent(String.self, forKey: .seal),
            seal == TemporaryNumber.seal(number, name)
        {
            store = Self.unsaved
        }
        self.init(storeID: store, entityName: name, number: number)
    }

    private static func ofDataStore(
        _ store: String, _ name: String, _ key: String, _ container: KeyedDecodingContainer<CodingKeys>
    ) throws -> PersistentIdentifier {
        guard let keys = dataStore(named: store) else {
            throw DecodingError.dataCorruptedError(
                forKey: .store, in: container,
                debugDescription:
                    "No container of this process has a data store \"\(store.excerpt)\". Open it before its identifiers are decoded."
            )
        }
        guard let identifier = ofDataStore(keys, name, key: key) else {
            throw DecodingError.dataCorruptedError(
                forKey: .key, in: container,
                debugDescription: "A key has 1 to \(DataStoreKeys.keyByteCountMax) bytes.")
        }
        return identifier
    }

    /// The greatest size of a decoded entity name, in bytes.
    static let nameByteCountMax = 4_096

    /// The greatest number that an object can have.
    static func numberMax(isTemporary: Bool) -> UInt64 { isTemporary ? TemporaryNumber.max : Limits.recordIDMax }

    /// The store of 32 hexadecimal digits; nil if no store can have them.
    static func store(_ text: String) -> (UInt64, UInt64)? {
        guard let store = IdentifierText.parse(text), store != unsaved, store != decodedTemporary else { return nil }
        return store
    }

    /// Encodes store, entity and number by name; a temporary identifier has no store, and one of a `DataStore` has its
    /// primary key instead of a number.
    ///
    /// A temporary number is meaningless outside its process, and has a seal that only its process makes: no client can
    /// name an unsaved object whose identifier it was not sent.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(entityName, forKey: .entity)
        guard let (keys, key) = dataStore else {
            try container.encodeIfPresent(storeIdentifier, forKey: .store)
            try container.encodeIfPresent(unsavedNumber.map { TemporaryNumber.seal($0, entityName) }, forKey: .seal)
            return try container.encode(number, forKey: .number)
        }
        guard let key else {
            throw EncodingError.invalidValue(
                self,
                .init(
                    codingPath: encoder.codingPath,
                    debugDescription:
                        "The key of a decoded identifier was forgotten: too many others were decoded since."))
        }
        try container.encode(keys.identifier, forKey: .store)
        try container.encode(key, forKey: .key)
    }
}

/// A 128-bit identifier, a store's or a transaction's, as 32 hexadecimal digits.
enum IdentifierText {
    static func text(high: UInt64, low: UInt64) -> String {
        String(unsafeUninitializedCapacity: 32) { buffer in
            var text = TextBuffer(buffer)
            text.append(hexadecimal: high)
            text.append(hexadecimal: low)
            return text.count
        }
    }

    static func parse(_ text: String) -> (UInt64, UInt64)? {
        let bytes = Array(text.utf8)
        guard bytes.count == 32 else { return nil }
        var halves: (UInt64, UInt64) = (0, 0)
        for (index, byte) in bytes.enumerated() {
            let digit: UInt64
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = UInt64(byte - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = UInt64(byte - UInt8(ascii: "a") + 10)
            default: return nil
            }
            if index < 16 { halves.0 = halves.0 << 4 | digit } else { halves.1 = halves.1 << 4 | digit }
        }
        return halves
    }
}
