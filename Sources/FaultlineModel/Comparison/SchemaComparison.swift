/// Collects the changes from one schema to another: the implementation of `SchemaDifference`.
struct SchemaComparison {
    let old: Schema
    let new: Schema
    private(set) var changes: [SchemaDifference.Change] = []
    private(set) var oldEntityNames: [String: String] = [:]
    private(set) var oldPropertyNames: [String: [String: String]] = [:]
    private(set) var hierarchyChanges: [String: HierarchyChange] = [:]

    init(from old: Schema, to new: Schema) {
        self.old = old
        self.new = new
        let oldClassNames = matchedNames(from: old.classLineages, to: new.classLineages)
        oldEntityNames = Self.oldTableNames(old, new, oldClassNames)
        for entity in new.entities {
            guard let oldEntity = oldEntity(of: entity) else { continue }
            guard !entity.hasHeirs, !oldEntity.hasHeirs else {
                let change = HierarchyChange(from: oldEntity, to: entity, oldClassNames)
                hierarchyChanges[entity.name] = change
                oldPropertyNames[entity.name] = change.oldColumns
                continue
            }
            oldPropertyNames[entity.name] = matchedNames(
                from: oldEntity.properties.map { NameLineage(name: $0.name, originalName: $0.originalName) },
                to: entity.properties.map { NameLineage(name: $0.name, originalName: $0.originalName) })
        }
    }

    /// The old table of each new one: that of its root class, or of the first of its subclasses that had one.
    private static func oldTableNames(
        _ old: Schema, _ new: Schema, _ oldClassNames: [String: String]
    ) -> [String: String] {
        var names: [String: String] = [:]
        for entity in new.entities {
            let classes = [entity.name] + entity.heirs.map(\.name)
            names[entity.name] = classes.lazy.compactMap { oldClassNames[$0].flatMap(old.tableName) }.first
        }
        return names
    }

    mutating func run() {
        for entity in new.entities {
            if let oldEntity = oldEntity(of: entity) {
                compare(oldEntity, entity)
            } else {
                add(.entityAdded, to: entity, reason: "A new entity has no objects yet.")
            }
        }
        let kept = Set(oldEntityNames.values)
        for entity in old.entities where !kept.contains(entity.name) {
            add(.entityRemoved, to: entity, reason: "All objects of the entity are dropped.")
        }
        findMergedHierarchies()
    }

    private func oldEntity(of entity: Schema.Entity) -> Schema.Entity? {
        oldEntityNames[entity.name].flatMap { old.entitiesByName[$0] }
    }

    mutating func add(
        _ kind: SchemaDifference.Kind, to entity: Schema.Entity, _ property: String? = nil,
        demand: SchemaDifference.Demand = .lightweight, isChecked: Bool = false, reason: String
    ) {
        changes.append(
            SchemaDifference.Change(
                kind: kind, entityName: entity.name, propertyName: property, demand: demand, reason: reason,
                isCheckedAgainstObjects: isChecked))
    }

    // MARK: Entities

    private mutating func compare(_ oldEntity: Schema.Entity, _ entity: Schema.Entity) {
        if oldEntity.name != entity.name {
            add(.entityRenamed(from: oldEntity.name), to: entity, reason: "Objects are kept under the new name.")
        }
        let parent = entity.superentityName
        if parent.map({ oldEntityNames[$0] ?? $0 }) != oldEntity.superentityName {
            add(
                .superentityChanged(from: oldEntity.superentityName, to: parent), to: entity,
                reason: "Objects keep the values of all properties that the entity still has.")
        }

        let oldNames = oldPropertyNames[entity.name] ?? [:]
        let oldProperties = Dictionary(oldEntity.properties.map { ($0.name, $0) }) { first, _ in first }
        for property in entity.properties {
            let before = oldNames[property.name].flatMap { oldProperties[$0] }
            compare(before.map { oldEntity.declared($0) }, property, of: entity)
        }
        let kept = Set(oldNames.values)
        for property in oldEntity.properties where !kept.contains(property.name) { remove(property, from: entity) }

        compareUniqueness(oldEntity, entity)
        compareIndexes(oldEntity, entity)
    }

    /// Reports entities that had no common ancestor and have one now, which needs a stage.
    private mutating func findMergedHierarchies() {
        let members = Dictionary(grouping: new.entities.filter { oldEntityNames[$0.name] != nil }) {
            rootName(of: $0, in: new)
        }
        for entity in new.entities where rootName(of: entity, in: new) == entity.name {
            let oldRoots = Set((members[entity.name] ?? []).compactMap(oldEntity).map { rootName(of: $0, in: old) })
            guard oldRoots.count > 1 else { continue }
            add(
                .entityHierarchiesMerged, to: entity, demand: .needsStage,
                reason: """
                    The entities \(oldRoots.sorted().joined(separator: ", ")) had no common ancestor, and now have \
                    \(entity.name). Make new entities and copy the objects in a stage.
                    """)
        }
    }

    private func rootName(of entity: Schema.Entity, in schema: Schema) -> String {
        var name = entity.name
        var visited: Set<String> = [name]
        while let parent = schema.entitiesByName[name]?.superentityName, visited.insert(parent).inserted {
            name = parent
        }
        return name
    }

    // MARK: Constraints and indexes

    private mutating func compareUniqueness(_ oldEntity: Schema.Entity, _ entity: Schema.Entity) {
        let old = oldEntity.allUniquenessConstraints
        let new = entity.allUniquenessConstraints
        let renamedNew = new.map { group in group.map { oldName(of: $0, in: entity) }.sorted() }
        for (group, oldGroup) in zip(new, renamedNew) where !old.contains(oldGroup) {
            add(
                .uniquenessAdded(group), to: entity, group.count == 1 ? group[0] : nil, isChecked: true,
                reason: """
                    Stored objects must differ in \(group.joined(separator: ", ")). If some do not, make them differ in \
                    a stage first.
                    """)
        }
        for group in old where !renamedNew.contains(group) {
            add(
                .uniquenessRemoved(group), to: entity, group.count == 1 ? group[0] : nil,
                reason: "Objects may now share values of \(group.joined(separator: ", ")).")
        }
    }

    private mutating func compareIndexes(_ oldEntity: Schema.Entity, _ entity: Schema.Entity) {
        let old = oldEntity.indices
        let renamedNew = entity.indices.map { group in group.map { oldName(of: $0, in: entity) } }
        for (group, oldGroup) in zip(entity.indices, renamedNew) where !old.contains(oldGroup) {
            add(.indexAdded(group), to: entity, reason: "The index is built from the stored objects.")
        }
        for group in old where !renamedNew.contains(group) {
            add(.indexRemoved(group), to: entity, reason: "The index is dropped.")
        }
        compareTextIndexes(oldEntity, entity)
    }

    private mutating func compareTextIndexes(_ oldEntity: Schema.Entity, _ entity: Schema.Entity) {
        let old = oldEntity.textIndexes.map(\.properties)
        let new = entity.textIndexes.map { text in text.properties.map { oldName(of: $0, in: entity) } }
        for (text, names) in zip(entity.textIndexes, new) where !old.contains(names) {
            add(
                .indexAdded(text.properties), to: entity, reason: "The text index is built from the stored objects.")
        }
        for names in old where !new.contains(names) {
            add(.indexRemoved(names), to: entity, reason: "The text index is dropped.")
        }
    }

    private func oldName(of property: String, in entity: Schema.Entity) -> String {
        oldPropertyNames[entity.name]?[property] ?? property
    }
}
