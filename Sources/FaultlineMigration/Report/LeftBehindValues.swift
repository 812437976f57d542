internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineObjects
internal import FaultlineStore

/// The entities and attributes that a step drops before any code has seen them, because the new version lacks them.
///
/// Nothing is read: an entity counts as many values of an attribute as it has objects.
struct LeftBehindValues {
    private let step: MigrationSteps.Step
    private let source: StoredCatalog
    private let mappings: [ResolvedMapping]

    /// - Parameters:
    ///   - step: The step.
    ///   - source: The state that it reads.
    ///   - mappings: The mappings of a mapped stage, resolved.
    init(_ step: MigrationSteps.Step, _ source: StoredCatalog, _ mappings: [ResolvedMapping] = []) {
        self.step = step
        self.source = source
        self.mappings = mappings
    }

    /// Entities and attributes, with the number of objects that a snapshot has of them; without those that have no
    /// objects.
    func found(in snapshot: Snapshot) -> [LeftBehindCounts] {
        let difference = SchemaDifference(from: source.schema, to: step.to)
        let rewritten = step.rewrittenEntities(from: source.schema)
        let streamed = Set(step.streamedEntities.map(\.entityName))
        let mapped = Set(mappings.filter { $0.destination != nil }.compactMap(\.source?.name))
        var found: [LeftBehindCounts] = []
        func add(_ entity: String, _ attribute: String?) {
            guard let table = source.map.entity(named: entity)?.table else { return }
            let count = snapshot.recordCount(of: TableID(rawValue: table))
            if count > 0 { found.append(LeftBehindCounts(entity: entity, attribute: attribute, objects: count)) }
        }
        for change in difference.changes {
            switch change.kind {
            case .entityRemoved where !streamed.contains(change.entityName) && !mapped.contains(change.entityName):
                add(change.entityName, nil)
            case .attributeRemoved where !rewritten.contains(change.entityName):
                if let old = difference.oldEntityNames[change.entityName] { add(old, change.propertyName) }
            default: break
            }
        }
        for entity in source.schema.entities where mapped.contains(entity.name) {
            for attribute in unread(of: entity) { add(entity.name, attribute) }
        }
        return found
    }

    /// Attributes that no mapping reads, if no code can read them.
    private func unread(of entity: Schema.Entity) -> [String] {
        let concerned = mappings.filter { $0.source?.name == entity.name }
        guard !concerned.contains(where: \.mapping.runsCode) else { return [] }
        let read = Set(concerned.flatMap(\.attributesRead))
        return entity.properties.compactMap { ($0 as? Schema.Attribute)?.name }.filter { !read.contains($0) }
    }
}

extension ResolvedMapping {
    /// The attributes of old objects that are copied into new ones.
    fileprivate var attributesRead: [String] {
        attributes.compactMap {
            switch $0.value {
            case .copied(let name, _, _): name
            case .path(let path): path.split(separator: ".").first.map(String.init)
            case .constant, .computed: nil
            }
        }
    }
}
