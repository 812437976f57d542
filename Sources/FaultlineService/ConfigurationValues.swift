#if Service
internal import Configuration
internal import Faultline

/// Reads values of a store's keys, and refuses those that cannot be used.
struct ConfigurationValues {
    private let config: ConfigReader

    init(_ config: ConfigReader) { self.config = config }

    /// The error for a value.
    func refused(_ key: StoreKey, _ value: String, _ allowed: String) -> StoreConfigurationError {
        StoreConfigurationError(key: key.rawValue, value: value, allowed: allowed)
    }

    /// The text of a key; nil if the key has no value.
    func text(_ key: StoreKey) throws -> String? {
        try readable(key, config.string(forKey: key.key), "a text")
    }

    /// The flag of a key; nil if the key has no value.
    func flag(_ key: StoreKey) throws -> Bool? {
        try readable(key, config.bool(forKey: key.key), "true or false")
    }

    /// The whole number of a key; nil if the key has no value.
    func integer(_ key: StoreKey, _ range: ClosedRange<Int>, _ unit: String) throws -> Int? {
        let allowed = "a whole number of \(unit), from \(range.lowerBound) to \(range.upperBound)"
        guard let number = try readable(key, config.int(forKey: key.key), allowed) else { return nil }
        guard range.contains(number) else { throw refused(key, "\(number)", allowed) }
        return number
    }

    /// The duration of a key, in seconds; nil if the key has no value.
    func seconds(_ key: StoreKey, _ range: ClosedRange<Int>) throws -> Duration? {
        let allowed = "a number of seconds, from \(range.lowerBound) to \(range.upperBound)"
        let number = config.double(forKey: key.key) ?? config.int(forKey: key.key).map(Double.init)
        guard let number = try readable(key, number, allowed) else { return nil }
        guard number >= Double(range.lowerBound), number <= Double(range.upperBound) else {
            throw refused(key, "\(number)", allowed)
        }
        return .seconds(number)
    }

    /// The value that the word of a key stands for; nil if the key has no value.
    func choice<Value>(_ key: StoreKey, _ choices: KeyValuePairs<String, Value>) throws -> Value? {
        let allowed = choices.map(\.key).joined(separator: " or ")
        guard let word = try readable(key, config.string(forKey: key.key), allowed) else { return nil }
        guard let choice = choices.first(where: { $0.key == word }) else { throw refused(key, word, allowed) }
        return choice.value
    }

    /// A value that was read; nil if the key has none.
    ///
    /// - Throws: `StoreConfigurationError` if the key has a value of another type: a reader does not tell that from no
    ///   value.
    private func readable<Value>(_ key: StoreKey, _ value: Value?, _ allowed: String) throws -> Value? {
        if let value { return value }
        if let other = anyText(key.key) { throw refused(key, other, allowed) }
        return nil
    }

    /// The text of a value of any type; nil if there is none.
    private func anyText(_ key: ConfigKey) -> String? {
        if let text = config.string(forKey: key) { return text }
        if let number = config.int(forKey: key) { return "\(number)" }
        if let number = config.double(forKey: key) { return "\(number)" }
        if let flag = config.bool(forKey: key) { return "\(flag)" }
        if let texts = config.stringArray(forKey: key) { return "\(texts)" }
        if let numbers = config.intArray(forKey: key) { return "\(numbers)" }
        if let numbers = config.doubleArray(forKey: key) { return "\(numbers)" }
        if let flags = config.boolArray(forKey: key) { return "\(flags)" }
        return config.bytes(forKey: key).map { "\($0.count) bytes" }
    }
}
#endif
