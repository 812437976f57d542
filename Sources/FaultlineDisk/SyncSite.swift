/// The name of a place in the code that synchronizes.
///
/// The engine gives each such place a name of its own; a test leaves the places out one after another and expects to be
/// told.
public struct SyncSite: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The name, such as `log.commit`: target, dot, what becomes durable.
    public let rawValue: String

    /// A site of that name.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// A site of that name.
    public init(stringLiteral name: String) {
        self.init(rawValue: name)
    }

    /// The name.
    public var description: String { rawValue }

    /// For calls that are not named.
    package static let unnamed: SyncSite = "unnamed"
}
