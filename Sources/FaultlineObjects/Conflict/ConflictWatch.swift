internal import FaultlineLog
internal import FaultlineStore

/// The original values of a context's changed objects, kept to detect conflicts.
///
/// A context with the default policy and no calls for more has no watch, and keeps nothing.
final class ConflictWatch {
    /// An object.
    struct Key: Hashable {
        let entity: Int
        let number: RecordID
    }

    /// An object's values when they were read; the watch owns the draft.
    struct Original {
        /// A marked slot has the unsaved value: its original value is unknown.
        let draft: Draft
        /// Segment and offset of the row with these values.
        var base: UInt64
    }

    var policy: MergePolicy
    private(set) var originals: [Key: Original] = [:]
    /// Objects for which conflicts are to be detected even if they are not changed.
    private(set) var watched: Set<Key> = []

    /// Objects that the policy was applied to: they must not change again before the save's turn.
    var settled: Set<Key> = []

    init(_ policy: MergePolicy) { self.policy = policy }

    deinit { forgetAll() }

    /// Keeps a copy of values, unless the object is watched and was read before: then the earlier values stay.
    func keep(_ draft: Draft, base: UInt64, of key: Key) {
        if watched.contains(key), originals[key] != nil { return }
        renew(draft, base: base, of: key)
    }

    /// Replaces the kept values with a copy of newer ones.
    func renew(_ draft: Draft, base: UInt64, of key: Key) {
        let old = originals.updateValue(Original(draft: draft.copy(), base: base), forKey: key)
        old?.draft.destroy()
    }

    func watch(_ key: Key) { watched.insert(key) }

    /// Sets where the values lie now.
    func move(_ key: Key, to base: UInt64) { originals[key]?.base = base }

    func forget(_ key: Key) { originals.removeValue(forKey: key)?.draft.destroy() }

    /// Forgets all objects but these.
    func forgetAll(but kept: Set<Key>) {
        for (key, original) in originals where !kept.contains(key) {
            original.draft.destroy()
            originals[key] = nil
        }
    }

    /// Forgets all objects; the policy stays.
    func forgetAll() {
        for original in originals.values { original.draft.destroy() }
        originals.removeAll()
        watched.removeAll()
        settled.removeAll()
    }
}
