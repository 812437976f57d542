/// Identifiers as text, for addresses, logs and command lines.
extension PersistentIdentifier: LosslessStringConvertible {
    /// The identifier as text: entity, number and store, separated by `~`.
    ///
    ///     let address = "/photos/\(photo.persistentModelID)"  // /photos/Photo~17~5c0de1…
    ///
    /// It has ASCII letters, digits, `_`, `.` and `~` only, so it is one segment of a URL's path as it is. Other bytes of
    /// the entity's name are written as `.` and two hexadecimal digits. An identifier has one text, and stored
    /// identifiers sort as text by entity, not by number. A temporary identifier has no store: `Photo~3`. One of a
    /// `DataStore` has four parts: entity, key, store, `k`.
    ///
    /// - Complexity: Linear in the length of the entity's name.
    public var description: String {
        var name = Self.escaped(entityName)
        if let dataStore, let key = dataStore.key {
            return "\(name)~\(Self.escaped(key))~\(Self.escaped(dataStore.keys.identifier))~k"
        }
        return name.withUTF8 { name in
            String(unsafeUninitializedCapacity: name.count + Self.placeByteCountMax) { buffer in
                var text = TextBuffer(buffer)
                text.append(name)
                text.append(UInt8(ascii: "~"))
                text.append(decimal: number)
                if !isTemporary {
                    text.append(UInt8(ascii: "~"))
                    text.append(hexadecimal: id.storeHigh)
                    text.append(hexadecimal: id.storeLow)
                }
                return text.count
            }
        }
    }

    /// Reads the text of an identifier, which may come from a client.
    ///
    ///     guard let id = PersistentIdentifier(parameters["photo"]), let photo = try context.existing(id, as: Photo.self)
    ///     else { throw HTTPError(.notFound) }
    ///
    /// That of a stored object equals the original, in every process. One without a store equals no identifier of this
    /// process and leads to no object, as after decoding.
    ///
    /// - Parameter description: The text. Nil is returned if it is not as `description` writes it: if the name has more
    ///   than 4,096 bytes or is no UTF-8, if no object can have the number, or if no store can have the digits.
    /// - Complexity: Linear in the length of the text; longer ones than can be valid are refused at once.
    public init?(_ description: String) {
        guard description.utf8.count <= Self.textByteCountMax else { return nil }
        let parts = description.utf8.split(separator: UInt8(ascii: "~"), omittingEmptySubsequences: false)
        if parts.count == 4 {
            guard let named = Self.ofDataStore(parts), named.description == description else { return nil }
            self = named
            return
        }
        guard parts.count == 2 || parts.count == 3, let name = Self.unescaped(parts[0]),
            let number = UInt64(Substring(parts[1])), number > 0,
            number <= Self.numberMax(isTemporary: parts.count == 2)
        else { return nil }
        var store = Self.decodedTemporary
        if parts.count == 3 {
            guard let stored = Self.store(String(Substring(parts[2]))) else { return nil }
            store = stored
        }
        self.init(storeID: store, entityName: name, number: number)
        // An identifier has one text: no sign, no leading zeros, no needless escapes.
        guard self.description == description else { return nil }
    }

    private static func ofDataStore(_ parts: [Substring.UTF8View]) -> PersistentIdentifier? {
        guard parts[3].elementsEqual("k".utf8), let name = unescaped(parts[0]), let key = unescaped(parts[1]),
            let identifier = unescaped(parts[2]), let keys = dataStore(named: identifier)
        else { return nil }
        return ofDataStore(keys, name, key: key)
    }

    private static let digits = Array("0123456789abcdef".utf8)
    /// Bytes of number and store, with their separators.
    private static let placeByteCountMax = 1 + 20 + 1 + 32
    private static let textByteCountMax = 3 * nameByteCountMax + placeByteCountMax

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func escaped(_ name: String) -> String {
        if name.utf8.allSatisfy(isPlain) { return name }
        var bytes: [UInt8] = []
        for byte in name.utf8 {
            if isPlain(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "."), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The name; nil if an escape lacks digits, or the bytes are no UTF-8 of at most the greatest size.
    private static func unescaped(_ text: Substring.UTF8View) -> String? {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: ".") else {
                bytes.append(byte)
                continue
            }
            guard let first = rest.popFirst(), let second = rest.popFirst(), let high = digits.firstIndex(of: first),
                let low = digits.firstIndex(of: second)
            else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        guard bytes.count <= nameByteCountMax else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}
