/// How a save treats references that were set to objects which another context has deleted.
///
///     context.policies.danglingReferences = .nullify
///
/// It is decided in the writer's turn, for the newest state of the store. References that were not set since the last
/// save are left alone.
public enum DanglingReferencePolicy: String, Sendable, Hashable, CaseIterable {
    /// Nothing is saved: the save throws a finding with rule `.missingObject` for each reference; the default.
    case refuse
    /// The reference is saved as nil, and a collection without the object; a required reference is a finding.
    ///
    /// An object that is gone is left out of the save where nothing of it was changed but references to one that have an
    /// inverse, as those of members that joined a collection are. Where more of it was changed, or the context knew before
    /// the change that it is gone, it is a finding with rule `.deletedElsewhere`.
    case nullify
}
