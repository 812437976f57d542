/// The name of a place in the code that synchronizes.
///
/// The engine gives each such place a unique name. A test leaves out one place after another and expects each
/// to be detected.
public struct SyncSite: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The name, such as `log.commit`: the target, a dot, and the thing that becomes durable.
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

    /// The site of calls without a name.
    package static let unnamed: SyncSite = "unnamed"
}
