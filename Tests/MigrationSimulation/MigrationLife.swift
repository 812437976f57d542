internal import Faultline

/// The kinds of stages that are disturbed.
package enum MigrationLife: CaseIterable, Sendable {
    case streamed
    /// The streamed stage on two threads.
    case streamedByTwo
    /// Two custom stages.
    case custom
    /// One mapped stage, with a policy.
    case mapped
    /// The same with a policy that goes on.
    case mappedResumable
    /// The streamed stage, tried out.
    case preview
    /// The custom stages, tried out.
    case customPreview
    /// No plan: references become links, and an index is built.
    case lightweight
    /// The streamed stage, with objects that cannot be converted.
    case quarantine
    /// The mapped stage, which begins again without objects that cannot be converted.
    case mappedQuarantine
    /// The streamed stage with a grace period, saves, and its rollback.
    case rollback
    /// The lightweight step, which goes on in the tables of before, the same way.
    case lightweightRollback

    /// What the migration leads to.
    var version: any VersionedSchema.Type {
        switch self {
        case .streamed, .streamedByTwo, .mapped, .mappedResumable, .preview, .quarantine, .mappedQuarantine, .rollback:
            Simulated2.self
        case .custom, .customPreview: SimulatedCustom3.self
        case .lightweight, .lightweightRollback: SimulatedLinks2.self
        }
    }

    var plan: (any SchemaMigrationPlan.Type)? {
        switch self {
        case .streamed, .streamedByTwo, .preview, .rollback: SimulatedPlan.self
        case .custom, .customPreview: SimulatedCustomPlan.self
        case .mapped: SimulatedMappedPlan.self
        case .mappedResumable: SimulatedResumablePlan.self
        case .lightweight, .lightweightRollback: nil
        case .quarantine: SimulatedQuarantinePlan.self
        case .mappedQuarantine: SimulatedMappedQuarantinePlan.self
        }
    }

    func newFault(_ work: SimulatedWork, _ context: ModelContext) throws -> String? {
        switch self {
        case .streamed, .streamedByTwo, .mapped, .mappedResumable, .preview, .rollback: try work.newFault(context)
        case .custom, .customPreview: try work.customFault(context)
        case .lightweight, .lightweightRollback: try work.linkFault(context)
        case .quarantine, .mappedQuarantine: try work.quarantineFault(context)
        }
    }

    /// Whether the migration is only tried out.
    package var isPreview: Bool { self == .preview || self == .customPreview }

    /// Whether the migration is rolled back.
    package var isRollback: Bool { self == .rollback || self == .lightweightRollback }
}
