/// The policies of a context's saves.
struct SavePolicies {
    /// For new objects whose unique values other objects have.
    var uniqueness = UniquenessPolicy.update
    /// The same for single new objects, by temporary number.
    var ofInserts: [UInt64: UniquenessPolicy] = [:]
    /// For references to objects that are no longer in the store.
    var danglingReferences = DanglingReferencePolicy.refuse
}
