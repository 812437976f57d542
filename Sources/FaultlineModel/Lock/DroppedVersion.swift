/// A version that a plan cannot migrate any more: what is left of it, so that no store of it is taken for another's.
public struct DroppedVersion: Hashable, Sendable {
    /// The number that the app gave it.
    public let number: Schema.Version
    /// Its fingerprint, as the lock file has it.
    public let fingerprint: Fingerprint
    /// The last release of the app that can migrate a store of this version: what users are told to run first.
    public let lastRelease: String

    /// Describes a version that was dropped; the fingerprint is 32 hexadecimal digits, copied from the lock file.
    ///
    /// A `SchemaLock` refuses one whose release is empty.
    public init(_ number: Schema.Version, fingerprint: String, lastRelease: String) {
        guard let print = Fingerprint(fingerprint.lowercased()) else {
            preconditionFailure("The fingerprint of dropped version \(number) is not 32 hexadecimal digits.")
        }
        self.number = number
        self.fingerprint = print
        self.lastRelease = lastRelease
    }
}
