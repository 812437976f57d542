public import FaultlineModel

/// The schemas that a refused migration has compared, by number and fingerprint, and their difference in words.
///
///     catch let error as MigrationError {
///         print(error.mismatch?.nearest?.number ?? "none", error.mismatch?.changes.map(\.summary) ?? [])
///     }
///
/// `MigrationError.message` has the same in words.
public struct SchemaMismatch: Hashable, Sendable, CustomStringConvertible {
    /// A schema: its number, and its fingerprint, as lock files and `faultline info` show it.
    public struct Version: Hashable, Sendable, CustomStringConvertible {
        /// The number.
        public let number: Schema.Version
        /// The identity.
        public let fingerprint: Fingerprint

        init(_ schema: Schema) {
            number = schema.version
            fingerprint = schema.fingerprint
        }

        /// Number and fingerprint.
        public var description: String { "version \(number), fingerprint \(fingerprint)" }
    }

    /// The schema that the store has, or would have before the step; nil if no store is concerned.
    public let stored: Version?
    /// The schema that the container asks for, that the step leads to, or that a stage names.
    public let requested: Version
    /// The version of the plan with the fewest changes to the schema that the plan does not list; nil if it lists
    /// both, or there is no plan.
    public let nearest: Version?
    /// The changes with other fingerprints, from `nearest` to the schema that the plan does not list; without one from
    /// `stored` to `requested`.
    public let changes: [SchemaDifference.Change]
    private let title: String

    /// Changes that the text lists; the rest is counted.
    private static let listedMax = 20

    /// Two schemas between which no way leads.
    init(stored: Schema, requested: Schema) {
        self.stored = Version(stored)
        self.requested = Version(requested)
        nearest = nil
        changes = Self.changes(from: stored, to: requested)
        title = "Changes from the store's schema to the requested one"
    }

    /// A schema that is none of some versions.
    ///
    /// - Parameters:
    ///   - stored: The store's schema; nil if no store is concerned.
    ///   - requested: The requested schema.
    ///   - isStoredUnknown: Whether the store's schema is the unknown one, or else the requested one.
    ///   - versions: The known ones.
    /// - Complexity: O(v) comparisons for v versions.
    init(stored: Schema?, requested: Schema, isStoredUnknown: Bool, among versions: [Schema]) {
        self.stored = stored.map { Version($0) }
        self.requested = Version(requested)
        let unknown = isStoredUnknown ? stored ?? requested : requested
        let found = versions.map { (schema: $0, changes: Self.changes(from: $0, to: unknown)) }
            .min { $0.changes.count < $1.changes.count }
        nearest = found.map { Version($0.schema) }
        changes = found?.changes ?? []
        title = "Changes from it to the \(isStoredUnknown ? "store's" : "requested") schema"
    }

    private static func changes(from old: Schema, to new: Schema) -> [SchemaDifference.Change] {
        new.difference(from: old).changes.filter(\.kind.changesFingerprint)
    }

    /// Both schemas, the nearest version and the changes, in sentences.
    public var description: String {
        guard nearest != nil || stored != nil else { return versions }
        let rest = changes.count > Self.listedMax ? ", and \(changes.count - Self.listedMax) more" : ""
        let words = changes.prefix(Self.listedMax).map(\.summary).joined(separator: "; ")
        return "\(versions) \(title): \(changes.isEmpty ? "none" : words)\(rest)."
    }

    /// Both schemas and the nearest version, in sentences.
    var versions: String {
        var sentences = stored.map { ["Store: \($0)."] } ?? []
        sentences.append("Requested: \(requested).")
        if let nearest { sentences.append("Nearest version of the plan: \(nearest).") }
        return sentences.joined(separator: " ")
    }
}

extension MigrationError {
    /// The same error with the schemas that it is about, which its message names at its end.
    func comparing(_ mismatch: SchemaMismatch) -> MigrationError {
        var error = self
        error.mismatch = mismatch
        return error
    }
}
