internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

/// Gives objects of a context the values of snapshots, and inserts objects that the store lacks.
///
/// Between `beginReading` and `endReading` of the context, on its newest state. Only values that differ are set, so that
/// a snapshot of an unchanged object changes nothing.
package struct SnapshotApplier {
    private let context: ContextCore
    private var subjects: [PersistentIdentifier: Subject] = [:]

    private struct Subject {
        let handle: ObjectHandle
        let snapshot: DefaultSnapshot
        let type: ModelType
        /// The position of the object's class in a table with several.
        let place: Int
        /// The values that the object has; nil for a new one.
        let old: ValueCopy?
    }

    package init(_ context: ContextCore) { self.context = context }

    /// The object of a snapshot that was applied.
    package func object(_ identifier: PersistentIdentifier) -> (any PersistentModel)? {
        subjects[identifier]?.handle.object as? any PersistentModel
    }

    /// Applies snapshots, which may refer to each other.
    ///
    /// - Throws: `SwiftDataError.unknownSchema` for an entity that the container lacks;
    ///   `SwiftDataError.modelValidationFailure` for a value that its property cannot have; the store's errors.
    package mutating func apply(_ snapshots: [DefaultSnapshot]) throws {
        for snapshot in snapshots { subjects[snapshot.persistentIdentifier] = try subject(snapshot) }
        let inOrder = snapshots.compactMap { subjects[$0.persistentIdentifier] }
        for subject in inOrder { try setAttributes(subject) }
        for subject in inOrder { try setTargets(subject) }
        for subject in inOrder { try setCollections(subject) }
    }

    // MARK: Objects

    private func subject(_ snapshot: DefaultSnapshot) throws -> Subject {
        let identifier = snapshot.persistentIdentifier
        guard let home = context.homes.reference(of: identifier)?.takeUnretainedValue(), let type = home.type,
            let place = type.classes.firstIndex(where: { $0.entityName == snapshot.entityName })
        else {
            throw SwiftDataError.unknownSchema.explained(
                "A data store has returned an object of entity \"\(snapshot.entityName.excerpt)\", which is not among the models of the container."
            )
        }
        if let handle = try storedHandle(identifier, home) {
            guard let object = handle.object as? any PersistentModel, handle.placeOfClass == place else {
                throw Self.isNotWhole(identifier)
            }
            let old = try object.valueCopy(including: [.collections, .largeValues])
            return Subject(handle: handle, snapshot: snapshot, type: type, place: place, old: old)
        }
        guard let handle = ObjectInsertion(context).insertAwake(home, ofClass: place) else {
            throw Self.isNotWhole(identifier)
        }
        if context.rules.allocatesChosenNumbers, let number = identifier.storedNumber(in: home.storeID) {
            context.rules.chosenNumbers[handle.core.pointee.number] = number
        }
        return Subject(handle: handle, snapshot: snapshot, type: type, place: place, old: nil)
    }

    private static func isNotWhole(_ identifier: PersistentIdentifier) -> SwiftDataError {
        .modelValidationFailure.explained("\(identifier) cannot be taken over from a data store.")
    }

    private func storedHandle(_ identifier: PersistentIdentifier, _ home: EntityHome) throws -> ObjectHandle? {
        guard let number = identifier.storedNumber(in: home.storeID), let table = home.entity?.table,
            try !context.snapshot.location(of: number, in: table).isAbsent
        else { return nil }
        return ObjectRegistry(context).anyObject(number, home).flatMap { home.handle(of: $0) }
    }

    /// The object that an identifier in a snapshot leads to; nil if there is none.
    private func handle(_ identifier: PersistentIdentifier, _ ordinal: Int) throws -> ObjectHandle? {
        let home = context.homes[ordinal]
        guard context.homes.reference(of: identifier)?.takeUnretainedValue() === home else { return nil }
        if let subject = subjects[identifier] { return subject.handle }
        return try storedHandle(identifier, home)
    }

    // MARK: Values

    /// Calls `body` with the properties of the object's class that differ, or of which the snapshot says nothing.
    private func forEachProperty(
        _ subject: Subject, _ body: (_ slot: Int, _ property: any SchemaProperty, _ name: String) throws -> Void
    ) rethrows {
        let type = subject.type
        let ofClass = type.hierarchy?.classes[subject.place]
        for (place, slot) in (ofClass?.slots ?? Array(type.properties.indices)).enumerated() {
            let name = ofClass?.names[place] ?? type.properties[slot].name
            if let old = subject.old?.values[name], let new = subject.snapshot.values[name], old.isSame(as: new) {
                continue
            }
            try body(slot, type.properties[slot], name)
        }
    }

    private func setAttributes(_ subject: Subject) throws {
        try forEachProperty(subject) { slot, property, name in
            guard let attribute = property.asAttribute, !attribute.isTransient,
                subject.type.hierarchy?.marks.contains(slot) != true
            else { return }
            let value: Any?
            switch subject.snapshot.values[name] {
            case nil:
                // A snapshot from before the property: the object keeps its value, or has the declared one.
                guard subject.old == nil else { return }
                value = subject.type.defaultValue(of: slot)
                if value == nil, attribute.isOptional { return }
            case .outOfRow: throw refusal(subject, name, "has a large value that was not read.")
            case let given?: value = given.boxed
            }
            do throws(KeyedValueError) {
                try subject.handle.core.pointee.checkClass(slot, subject.type, value)
                try subject.handle.core.pointee.setKeyedValue(slot, property, to: value)
            } catch {
                throw refusal(subject, name, error.message)
            }
        }
    }

    private func refusal(_ subject: Subject, _ name: String, _ text: String) -> SwiftDataError {
        .modelValidationFailure.explained(
            "\(subject.snapshot.entityName).\(name) of the data store's \(subject.snapshot.persistentIdentifier) \(text)"
        )
    }

    private func setTargets(_ subject: Subject) throws {
        try forEachProperty(subject) { slot, property, name in
            guard case .toOne(let relationship)? = storage(slot, subject), let given = subject.snapshot.values[name]
            else { return }
            let target = try given.identifier.flatMap { try handle($0, relationship.destination) }
            // An object that the data store does not have reads as nil.
            if target == nil, subject.old?.values[name] ?? .null == .null { return }
            RelationshipEditor(context).setTarget(of: subject.handle, slot, to: target)
        }
    }

    private func setCollections(_ subject: Subject) throws {
        try forEachProperty(subject) { slot, property, name in
            guard case .toMany(let relationship)? = storage(slot, subject),
                case .objects(let identifiers)? = subject.snapshot.values[name]
            else { return }
            let home = context.homes[relationship.destination]
            let listed = try identifiers.compactMap { try handle($0, relationship.destination) }
            let present = MemberReader(context).memberObjects(of: subject.handle, slot).compactMap(home.handle(of:))
            var wanted = listed
            if case .inverse = relationship.members, let inverse = property.asRelationship?.inverseName {
                // Members that name their owner themselves decide.
                let deciding = Set(
                    subjects.values.lazy.filter { $0.snapshot.values[inverse] != nil }
                        .map { ObjectIdentifier($0.handle.object) })
                let (isPresent, isListed) = (Self.membership(present), Self.membership(listed))
                wanted =
                    listed.filter { isPresent($0) || !deciding.contains(ObjectIdentifier($0.object)) }
                    + present.filter { !isListed($0) && deciding.contains(ObjectIdentifier($0.object)) }
            }
            guard !wanted.elementsEqual(present, by: { $0.object === $1.object }) else { return }
            RelationshipEditor(context).setMembers(of: subject.handle, slot, to: wanted)
        }
    }

    private func storage(_ slot: Int, _ subject: Subject) -> SlotStorage? {
        subject.handle.core.pointee.home.takeUnretainedValue().entity?.slots[slot]
    }

    private static func membership(_ handles: [ObjectHandle]) -> (ObjectHandle) -> Bool {
        let objects = Set(handles.map { ObjectIdentifier($0.object) })
        return { objects.contains(ObjectIdentifier($0.object)) }
    }
}

extension PropertyValue {
    /// Whether both are stored alike: unlike `==`, a number that is not one is the same as itself.
    fileprivate func isSame(as other: PropertyValue) -> Bool {
        switch (self, other) {
        case (.double(let one), .double(let other)): one.bitPattern == other.bitPattern
        case (.float(let one), .float(let other)): one.bitPattern == other.bitPattern
        default: self == other
        }
    }

    /// The value of an attribute as setters take it; nil for nil.
    fileprivate var boxed: Any? {
        switch self {
        case .null, .outOfRow, .object, .objects: nil
        case .bool(let value): value
        case .integer(let value): value
        case .float(let value): value
        case .double(let value): value
        case .date(let value): value
        case .uuid(let value): value
        case .decimal(let value): value
        case .string(let value): value
        case .url(let value): value
        case .data(let value): value
        case .codable(let value): value
        }
    }
}
