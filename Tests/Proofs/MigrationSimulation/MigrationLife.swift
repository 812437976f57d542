internal import Faultline

/// The kinds of stages that are tested under faults.
package enum MigrationLife: CaseIterable, Sendable {
    case streamed
    /// A lightweight step of a hierarchy: a class is put in, and a property moves up.
    case heirs
    /// The streamed stage on two threads.
    case streamedByTwo
    /// Two custom stages.
    case custom
    /// One mapped stage, with a policy.
    case mapped
    /// The same with a policy that can continue.
    case mappedResumable
    /// A dry run of the streamed stage.
    case preview
    /// A dry run of the custom stages.
    case customPreview
    /// Without a plan: references become links, and an index is built.
    case lightweight
    /// The streamed stage, with objects that cannot be converted.
    case quarantine
    /// The mapped stage, which begins again without the objects that cannot be converted.
    case mappedQuarantine
    /// The streamed stage with a grace period, followed by saves and its rollback.
    case rollback
    /// The lightweight step, which keeps the same tables, with a grace period and its rollback.
    case lightweightRollback
    /// A streamed stage behind a custom one, which begins again after each cut and finds the custom one's values.
    case streamedBehindCustom
    /// A lightweight step that builds indexes while a container of the old schema saves.
    case online

    /// The version to which the migration leads.
    var version: any VersionedSchema.Type {
        switch self {
        case .streamed, .streamedByTwo, .mapped, .mappedResumable, .preview, .quarantine, .mappedQuarantine, .rollback:
            Simulated2.self
        case .custom, .customPreview, .streamedBehindCustom: SimulatedCustom3.self
        case .lightweight, .lightweightRollback: SimulatedLinks2.self
        case .online: SimulatedOnline2.self
        case .heirs: SimulatedHeirs2.self
        }
    }

    /// The version that the migration starts from.
    var oldVersion: any VersionedSchema.Type { self == .heirs ? SimulatedHeirs1.self : Simulated1.self }

    var plan: (any SchemaMigrationPlan.Type)? {
        switch self {
        case .streamed, .streamedByTwo, .preview, .rollback: SimulatedPlan.self
        case .custom, .customPreview: SimulatedCustomPlan.self
        case .streamedBehindCustom: SimulatedLaterPlan.self
        case .mapped: SimulatedMappedPlan.self
        case .mappedResumable: SimulatedResumablePlan.self
        case .lightweight, .lightweightRollback, .online, .heirs: nil
        case .quarantine: SimulatedQuarantinePlan.self
        case .mappedQuarantine: SimulatedMappedQuarantinePlan.self
        }
    }

    func newFault(_ work: SimulatedWork, _ saves: SimulatedSaves, _ context: ModelContext) throws -> String? {
        switch self {
        case .streamed, .streamedByTwo, .mapped, .mappedResumable, .preview, .rollback: try work.newFault(context)
        case .custom, .customPreview: try work.customFault(context) ?? work.memoFault(context)
        case .streamedBehindCustom: try work.customFault(context)
        case .lightweight, .lightweightRollback: try work.linkFault(context)
        case .quarantine, .mappedQuarantine: try work.quarantineFault(context)
        case .online: try saves.newFault(context)
        case .heirs: try work.newHeirFault(context)
        }
    }

    /// Whether the migration is only a dry run.
    package var isPreview: Bool { self == .preview || self == .customPreview }

    /// Whether the migration is rolled back.
    package var isRollback: Bool { self == .rollback || self == .lightweightRollback }
}
