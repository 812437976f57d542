/// The name of a call site that synchronizes.
///
/// The engine gives each call site a unique name. A test omits one call after another, and expects that each omission
/// is detected.
public struct SyncSite: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The name, such as `log.commit`: the target, a dot, and the thing that becomes durable.
    public let rawValue: String

    /// Creates a site with the given name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Creates a site with the given name.
    public init(stringLiteral name: String) {
        self.init(rawValue: name)
    }

    /// The name.
    public var description: String { rawValue }

    /// The site of all unnamed calls.
    package static let unnamed: SyncSite = "unnamed"
}
