/// The change of the classes of one table from one schema to the next: the columns that go on, and the
/// conditions that the stored objects of a class must meet.
package struct HierarchyChange: Hashable, Sendable {
    /// A condition on the stored objects of a class of the old schema.
    package struct Demand: Hashable, Sendable {
        package enum Kind: Hashable, Sendable {
            /// There are none: the class is gone, or a property that they lack is required.
            case noObjects
            /// They have no value in a column that the class gets: it would be that of another property.
            case noValue(column: String)
            /// They have a value in a column: the class requires one.
            case aValue(column: String)
            /// Their values in a column are lost, and may only be if the app allows it.
            case lostValue(column: String)
        }

        package let kind: Kind
        /// The class in the old schema; its subclasses are not meant.
        package let className: String
        /// The end of a sentence that begins with the class.
        package let reason: String
    }

    /// For each column of the new table that goes on, the old one.
    package private(set) var oldColumns: [String: String] = [:]
    package private(set) var demands: [Demand] = []
    /// Why the change cannot be made, with the class; nil if it can.
    package private(set) var refusal: Refusal?
    /// The subclass that was the root class: its rows have no mark.
    package private(set) var formerRoot: String?

    package struct Refusal: Hashable, Sendable {
        package let className: String
        /// The end of a sentence that begins with the class.
        package let reason: String
    }

    /// A class of a table.
    private struct Class {
        let name: String
        let parent: String?
        /// By the names of the properties, inherited ones included.
        let columns: [String: String]
        /// The class's view of each property: whether it is optional.
        let optional: [String: Bool]
        let lineages: [NameLineage]
    }

    /// - Parameters:
    ///   - old: The entity of the old table.
    ///   - new: The entity of the new one.
    ///   - oldNames: The old name of each class of the new schema.
    init(from old: Schema.Entity, to new: Schema.Entity, _ oldNames: [String: String]) {
        let before = Dictionary(Self.classes(of: old).map { ($0.name, $0) }) { first, _ in first }
        let after = Self.classes(of: new)
        matchColumns(before, after, old, new, oldNames)
        checkPlaces(before, after, old, new, oldNames)
        let kept = Set(after.compactMap { oldNames[$0.name] })
        for gone in Self.classes(of: old) where !kept.contains(gone.name) {
            demand(.noObjects, gone.name, "is not in the new version")
        }
        for entry in after {
            guard let oldClass = oldNames[entry.name].flatMap({ before[$0] }) else { continue }
            checkValues(entry, oldClass, old, new)
        }
    }

    private mutating func demand(_ kind: Demand.Kind, _ className: String, _ reason: String) {
        demands.append(Demand(kind: kind, className: className, reason: reason))
    }

    private static func classes(of entity: Schema.Entity) -> [Class] {
        let properties = Dictionary(entity.properties.map { ($0.name, $0) }) { first, _ in first }
        var optional: [String: Bool] = [:]
        for heir in entity.heirs { for column in heir.columns { optional[column.column] = column.isOptional } }
        func make(_ name: String, _ parent: String?) -> Class {
            let columns = entity.columnNames(ofClass: name)
            var views: [String: Bool] = [:]
            var lineages: [NameLineage] = []
            for (property, column) in columns {
                guard let declared = properties[column] else { continue }
                views[property] = optional[column] ?? declared.isOptional
                let isRenamed = declared.originalName != declared.name
                lineages.append(
                    NameLineage(name: property, originalName: isRenamed ? declared.originalName : property))
            }
            lineages.sort { precedes($0.name, $1.name) }
            return Class(name: name, parent: parent, columns: columns, optional: views, lineages: lineages)
        }
        return [make(entity.name, nil)] + entity.heirs.map { make($0.name, $0.superName) }
    }

    // MARK: Columns

    private mutating func matchColumns(
        _ before: [String: Class], _ after: [Class], _ old: Schema.Entity, _ new: Schema.Entity,
        _ oldNames: [String: String]
    ) {
        var found: [String: Set<String>] = [:]
        for entry in after {
            guard let oldClass = oldNames[entry.name].flatMap({ before[$0] }) else { continue }
            let matches = matchedNames(from: oldClass.lineages, to: entry.lineages)
            for (property, oldProperty) in matches {
                guard let column = entry.columns[property], let oldColumn = oldClass.columns[oldProperty] else {
                    continue
                }
                found[column, default: []].insert(oldColumn)
            }
            if entry.name != new.name, oldClass.name != old.name {
                oldColumns[Schema.Heir.markName(of: entry.name)] = Schema.Heir.markName(of: oldClass.name)
            } else if entry.name != new.name {
                formerRoot = entry.name
            }
        }
        var taken: [String: String] = [:]
        for column in found.keys.sorted(by: precedes) {
            let candidates = (found[column] ?? []).sorted(by: precedes)
            guard candidates.count == 1 else {
                refuse(new.name, "has one property \(column) where two were: \(candidates.joined(separator: ", "))")
                continue
            }
            if let other = taken.updateValue(column, forKey: candidates[0]) {
                refuse(new.name, "has two properties, \(other) and \(column), where \(candidates[0]) was one")
            }
            oldColumns[column] = candidates[0]
        }
    }

    // MARK: Places

    private mutating func checkPlaces(
        _ before: [String: Class], _ after: [Class], _ old: Schema.Entity, _ new: Schema.Entity,
        _ oldNames: [String: String]
    ) {
        let classes = Dictionary(after.map { ($0.name, $0) }) { first, _ in first }
        let newNames = Dictionary(oldNames.map { ($0.value, $0.key) }) { first, _ in first }
        let bound = Set(new.uniquenessConstraints.compactMap { $0.first { Schema.Heir.isMark($0) } })
        for entry in after {
            guard let oldName = oldNames[entry.name], before[oldName] != nil else { continue }
            let above = Self.ancestors(of: entry.name, classes)
            let was = Self.ancestors(of: oldName, before)
            for name in was {
                // The rows keep its mark.
                guard let still = newNames[name], classes[still] != nil, still != new.name, !above.contains(still)
                else {
                    continue
                }
                refuse(entry.name, "no longer inherits from \(still), which stays in the hierarchy")
            }
            for name in above where name != new.name {
                // The rows lack its mark.
                guard oldNames[name].map(was.contains) != true, bound.contains(Schema.Heir.markName(of: name)) else {
                    continue
                }
                refuse(entry.name, "gets the superclass \(name), which declares unique properties")
            }
            if formerRoot == entry.name, bound.contains(Schema.Heir.markName(of: entry.name)) {
                refuse(entry.name, "was the root class, and declares unique properties")
            }
        }
    }

    private static func ancestors(of name: String, _ classes: [String: Class]) -> Set<String> {
        var names: Set<String> = []
        var next = classes[name]?.parent
        while let parent = next, names.insert(parent).inserted { next = classes[parent]?.parent }
        return names
    }

    // MARK: Values

    private mutating func checkValues(
        _ entry: Class, _ oldClass: Class, _ old: Schema.Entity, _ new: Schema.Entity
    ) {
        let properties = Dictionary(new.properties.map { ($0.name, $0) }) { first, _ in first }
        let oldHeld = Set(oldClass.columns.values)
        var goesOn: Set<String> = []
        for (property, column) in entry.columns.sorted(by: { precedes($0.key, $1.key) }) {
            guard let declared = properties[column] else { continue }
            let isOptional = entry.optional[property] ?? true
            let isOfRoot = new.rootPropertyNames.contains(column)
            let isToMany = declared.asRelationship?.isToOneRelationship == false
            guard let oldColumn = oldColumns[column] else {
                // The root's own are compared as those of any entity.
                guard !isOfRoot, !isOptional, !isToMany, declared.asAttribute?.hasDefaultValue != true else { continue }
                demand(.noObjects, oldClass.name, "gets the required property \(property), which has no default")
                continue
            }
            goesOn.insert(oldColumn)
            if oldHeld.contains(oldColumn) {
                let wasOptional = oldClass.columns.first { $0.value == oldColumn }.flatMap { oldClass.optional[$0.key] }
                if !isOfRoot, !isOptional, !isToMany, wasOptional == true {
                    demand(.aValue(column: oldColumn), oldClass.name, "requires \(property)")
                }
                continue
            }
            if !isOptional, !isToMany, !isOfRoot || declared.asAttribute?.hasDefaultValue != true {
                demand(.noObjects, oldClass.name, "gets the required property \(property) of another class")
            } else {
                demand(.noValue(column: oldColumn), oldClass.name, "gets the property \(property) of another class")
            }
        }
        let continued = Set(oldColumns.values)
        for (property, column) in oldClass.columns.sorted(by: { precedes($0.key, $1.key) })
        where !goesOn.contains(column) && continued.contains(column) {
            demand(.lostValue(column: column), oldClass.name, "loses the property \(property)")
        }
    }

    /// Keeps the first reason.
    private mutating func refuse(_ className: String, _ reason: String) {
        if refusal == nil { refusal = Refusal(className: className, reason: reason) }
    }
}

extension Schema {
    /// The classes of all tables, with the names that older schemas knew them by.
    var classLineages: [NameLineage] {
        entities.flatMap { entity in
            [NameLineage(name: entity.name, originalName: entity.originalName)]
                + entity.heirs.map { NameLineage(name: $0.name, originalName: $0.originalName ?? $0.name) }
        }
    }

    /// The name of the table that has a class's rows.
    func tableName(ofClass name: String) -> String? {
        if entitiesByName[name] != nil { return name }
        return entities.first { $0.heir(named: name) != nil }?.name
    }
}
