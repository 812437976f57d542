/// The effects of a deletion by the delete rules, before anything is deleted.
///
/// Made by `ModelContext.deletePlan(for:)`. It is valid for the state that the context reads and for its unsaved
/// changes; later saves may change it.
public struct DeletePlan: Hashable, Sendable, CustomStringConvertible {
    /// The objects of one entity that would be deleted.
    public struct Deleted: Hashable, Sendable {
        /// The entity.
        public let entityName: String
        /// Objects, unsaved ones included.
        public let objectCount: Int
        /// Stored bytes of their large values; counting does not read the values.
        public let blobByteCount: UInt64
    }

    /// The remaining objects of one entity whose reference to a deleted object would be cleared or would dangle.
    public struct Reference: Hashable, Sendable {
        /// The entity of the remaining objects.
        public let entityName: String
        /// Their to-one relationship.
        public let propertyName: String
        /// Objects.
        public let objectCount: Int
    }

    /// The objects that would be deleted, in the order of the schema.
    public let deleted: [Deleted]
    /// References that would be set to nil, by `deleteRule: .nullify`.
    public let cleared: [Reference]
    /// References that would dangle, by `deleteRule: .noAction`; they read as nil.
    ///
    /// To-one relationships without an inverse are not among them: only a scan of their objects could find them.
    public let leftDangling: [Reference]
    /// Findings that would make the save fail: rules that deny, required references that would be cleared, collections
    /// that would have too few members; the first 1,000.
    public let refusals: [ValidationFinding]

    /// The plans of several stores in one.
    init(joining plans: [DeletePlan]) {
        self.init(
            deleted: plans.flatMap(\.deleted), cleared: plans.flatMap(\.cleared),
            leftDangling: plans.flatMap(\.leftDangling), refusals: plans.flatMap(\.refusals))
    }

    init(deleted: [Deleted], cleared: [Reference], leftDangling: [Reference], refusals: [ValidationFinding]) {
        self.deleted = deleted
        self.cleared = cleared
        self.leftDangling = leftDangling
        self.refusals = refusals
    }

    /// Objects that would be deleted.
    public var objectCount: Int { deleted.reduce(0) { $0 + $1.objectCount } }
    /// Bytes of large values that would be deleted with them.
    public var blobByteCount: UInt64 { deleted.reduce(0) { $0 + $1.blobByteCount } }
    /// Whether nothing in the plan would make a save fail.
    public var isAllowed: Bool { refusals.isEmpty }

    /// One sentence: "would delete 1 Album, 14 Photo, 31 MB".
    public var description: String {
        guard objectCount > 0 else { return "would delete nothing" }
        var parts = deleted.map { "\($0.objectCount) \($0.entityName)" }
        if blobByteCount > 0 { parts.append(Self.text(ofBytes: blobByteCount)) }
        var text = "would delete \(parts.joined(separator: ", "))"
        let clearedCount = cleared.reduce(0) { $0 + $1.objectCount }
        if clearedCount > 0 { text += "; would clear \(clearedCount) references" }
        let leftCount = leftDangling.reduce(0) { $0 + $1.objectCount }
        if leftCount > 0 { text += "; would leave \(leftCount) references that lead nowhere" }
        if let first = refusals.first {
            let more = refusals.count > 1 ? "; and \(refusals.count - 1) more" : ""
            text += "; would be refused: \(first)\(more)"
        }
        return text
    }

    /// Bytes in the largest decimal unit that gives at least one, rounded.
    private static func text(ofBytes count: UInt64) -> String {
        var unit = 0
        var divisor: UInt64 = 1
        let units = ["B", "kB", "MB", "GB", "TB", "PB"]
        while unit < units.count - 1, count / divisor >= 1_000 {
            unit += 1
            divisor *= 1_000
        }
        return "\((count + divisor / 2) / divisor) \(units[unit])"
    }
}
