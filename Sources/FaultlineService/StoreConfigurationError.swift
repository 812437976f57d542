#if Service
/// A value of the configuration that a store cannot use.
///
///     do {
///         configuration = try ModelConfiguration(config: config.scoped(to: "store"))
///     } catch let error as StoreConfigurationError {
///         logger.error("\(error)")  // durability is "fast". Allowed: sync or async.
///     }
public struct StoreConfigurationError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The key, without the prefix of the reader, such as `performing.threadCount`.
    public let key: String
    /// The value that was found.
    public let value: String
    /// The allowed values, with their unit.
    public let allowed: String

    /// Key, value and allowed values, in full sentences.
    public var description: String { "\(key) is \"\(value)\". Allowed: \(allowed)." }
}
#endif
