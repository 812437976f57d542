package import FaultlineModel

/// The classes whose objects are rows of one table: which rows are objects of which class, and which slots a class has.
///
/// A row is of the last class in the order of `classes` whose mark it has, and of the root class if it has none:
/// subclasses come after the class that they inherit from.
package final class EntityHierarchy: Sendable {
    /// A class of the table.
    package struct Class: Sendable {
        package let name: String
        /// Position of the class that it inherits from; -1 for the root class.
        package let parent: Int
        /// The slot of its mark; -1 for the root class.
        package let mark: Int
        /// The slots of the class's properties in the order of the class: inherited ones first.
        package let slots: [Int]
        /// The names of the class's properties, in the same order.
        package let names: [String]
        /// The slots of attributes that are optional in the table, and not in the class.
        package let requiredSlots: Set<Int>
        /// Positions of the class itself and of all its subclasses.
        package fileprivate(set) var family: [Int]
        /// By slot of the table: whether the class has the property.
        fileprivate let hasSlot: [Bool]

        /// Whether the class has a property in a slot.
        package func has(_ slot: Int) -> Bool { slot < hasSlot.count && hasSlot[slot] }
    }

    /// The root class, then its subclasses, each before its own.
    package let classes: [Class]
    /// The slots of all marks.
    package let marks: Set<Int>

    /// Nil for an entity of one class.
    package init?(_ entity: Schema.Entity) {
        guard entity.hasHeirs else { return nil }
        let properties = entity.properties
        let places = Dictionary(properties.enumerated().map { ($0.element.name, $0.offset) }) { first, _ in first }
        func make(
            _ name: String, _ parent: Int, _ mark: Int, _ slots: [Int], _ names: [String], _ required: Set<Int> = []
        ) -> Class {
            var hasSlot = [Bool](repeating: false, count: properties.count)
            for slot in slots { hasSlot[slot] = true }
            return Class(
                name: name, parent: parent, mark: mark, slots: slots, names: names, requiredSlots: required, family: [],
                hasSlot: hasSlot)
        }
        let rootNames = entity.rootPropertyNames
        var classes = [make(entity.name, -1, -1, rootNames.compactMap { places[$0] }, rootNames)]
        for heir in entity.heirs {
            guard let parent = classes.firstIndex(where: { $0.name == heir.superName }),
                let mark = places[heir.markName]
            else { return nil }
            let own = heir.columns.compactMap { places[$0.column] }
            guard own.count == heir.columns.count else { return nil }
            let required = zip(own, heir.columns).filter { slot, column in
                !column.isOptional && properties[slot].asAttribute != nil
            }
            classes.append(
                make(
                    heir.name, parent, mark, classes[parent].slots + own,
                    classes[parent].names + heir.columns.map(\.property),
                    classes[parent].requiredSlots.union(required.map { $0.0 })))
        }
        for place in classes.indices {
            var next = place
            while next >= 0 {
                classes[next].family.append(place)
                next = classes[next].parent
            }
        }
        self.classes = classes
        marks = Set(classes.map(\.mark).filter { $0 >= 0 })
    }

    /// The position of a class; nil for a class without rows in the table.
    package func place(of name: String) -> Int? { classes.firstIndex { $0.name == name } }

    /// The position of the class of a row.
    package func place(of row: RowView) -> Int { place { !row.isNil($0) } }

    /// The position of the class of an object with unsaved values.
    package func place(of draft: Draft) -> Int { place { !draft.isNil($0) } }

    private func place(_ has: (_ mark: Int) -> Bool) -> Int {
        let last = classes.lastIndex { $0.mark >= 0 && has($0.mark) }
        return last ?? 0
    }

    /// The class of a row.
    package func `class`(of row: RowView) -> Class { classes[place(of: row)] }

    /// The class of an object with unsaved values.
    package func `class`(of draft: Draft) -> Class { classes[place(of: draft)] }

    /// The marks that the rows of a class have.
    package func marks(of place: Int) -> [Int] {
        var marks: [Int] = []
        var next = place
        while next > 0 {
            marks.append(classes[next].mark)
            next = classes[next].parent
        }
        return marks
    }

    /// The condition that rows of a class meet, and of its subclasses unless they are left out.
    package func filter(of place: Int, withSubclasses: Bool = true) -> RowFilter {
        let below = classes[place].family.filter { $0 != place }.map { RowFilter.not(.isNil(slot: classes[$0].mark)) }
        if place == 0 {
            return withSubclasses || below.isEmpty ? .always : .not(.or(below))
        }
        // A row that was written before a class was put between has the marks of the classes below only.
        let own = RowFilter.not(.isNil(slot: classes[place].mark))
        if withSubclasses { return below.isEmpty ? own : .or([own] + below) }
        return below.isEmpty ? own : .and([own, .not(.or(below))])
    }

    /// Makes the values of a new object those of an object of a class.
    package func setClass(of draft: inout Draft, to place: Int) {
        for mark in marks(of: place) { draft.setBool(mark, true) }
    }
}

extension EntityStorage {
    /// Whether an object with these unsaved values has a property in a slot: not if it is one of another class.
    package func has(_ slot: Int, _ draft: Draft) -> Bool { hierarchy?.class(of: draft).has(slot) ?? true }
}
