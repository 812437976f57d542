/// A version that a plan can no longer migrate: identifies its stores, so that they are not mistaken for another
/// version's.
public struct DroppedVersion: Hashable, Sendable {
    /// The number that the app gave it.
    public let number: Schema.Version
    /// Its fingerprint, from the lock file.
    public let fingerprint: Fingerprint
    /// The last release of the app that can migrate a store of this version: users must run that release first.
    public let lastRelease: String

    /// Describes a dropped version; the fingerprint is 32 hexadecimal digits, copied from the lock file.
    ///
    /// A `SchemaLock` refuses one with an empty release.
    public init(_ number: Schema.Version, fingerprint: String, lastRelease: String) {
        guard let print = Fingerprint(fingerprint.lowercased()) else {
            preconditionFailure("The fingerprint of dropped version \(number) is not 32 hexadecimal digits.")
        }
        self.number = number
        self.fingerprint = print
        self.lastRelease = lastRelease
    }
}
