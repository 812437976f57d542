internal import CFaultline
internal import FaultlineDisk
internal import FaultlineLog
internal import FaultlineStore

// Objects by identifier. An identifier may come from a client or another process, so it is untrusted: the number is
// looked up in the store before an object is made or registered for it.

extension ObjectRegistry {
    /// The object of an identifier: registered, unsaved, or a new fault; if the context has no such object, one that is
    /// marked as absent.
    func model(for identifier: PersistentIdentifier) -> any PersistentModel {
        if let home = context.homes.reference(of: identifier) {
            let found = home._withUnsafeGuaranteedRef { home in
                home.typeReference?._withUnsafeGuaranteedRef { model(for: identifier, home, $0) }
            }
            if let found { return found }
        }
        context.report(
            SwiftDataError.unknownSchema.explained(
                "An object of entity \"\(identifier.entityName.excerpt)\" was asked for, which is not among the models of this container. Add it to the container's schema, or ask existing(_:), which may be nil."
            ), isOfStore: false)
        return UnknownModel.marked()
    }

    /// The same, for an identifier of an entity with a known class.
    @inline(__always)
    private func model(
        for identifier: PersistentIdentifier, _ home: EntityHome, _ type: ModelType
    ) -> any PersistentModel {
        if let number = identifier.unsavedNumber {
            if let object = context.pending.insertedObject(number)?.object as? any PersistentModel { return object }
            return type.asModel(absentObject(number, home, type, flags: .temporary))
        }
        guard let number = identifier.storedNumber(in: home.storeID) else {
            return type.asModel(absentObject(0, home, type))
        }
        if let object = registeredObject(number, home) { return type.asModel(object) }
        guard mayBeStored(number, home), let object = anyObject(number, home) else {
            return type.asModel(absentObject(number, home, type))
        }
        return type.asModel(object)
    }

    /// The object of an identifier if it is alive here.
    func registeredModel(for identifier: PersistentIdentifier) -> AnyObject? {
        guard let home = context.homes.reference(of: identifier)?.takeUnretainedValue() else { return nil }
        if let number = identifier.unsavedNumber { return context.pending.insertedObject(number)?.object }
        return identifier.storedNumber(in: home.storeID).flatMap { registeredObject($0, home) }
    }

    /// The object of an identifier if it is inserted here, or stored and not deleted; otherwise no object is made.
    ///
    /// - Parameters:
    ///   - identifier: Any identifier.
    ///   - isWanted: Whether objects of a type are acceptable.
    /// - Returns: The object, or nil.
    /// - Throws: `LogError` if the store cannot be read.
    func existingModel(
        for identifier: PersistentIdentifier, _ isWanted: (ModelType) -> Bool
    ) throws -> (any PersistentModel)? {
        guard let home = context.homes.reference(of: identifier)?.takeUnretainedValue(), let type = home.type,
            isWanted(type)
        else {
            return nil
        }
        if let number = identifier.unsavedNumber {
            return context.pending.insertedObject(number).flatMap {
                $0.core.pointee.isDeleted ? nil : $0.object as? any PersistentModel
            }
        }
        return try identifier.storedNumber(in: home.storeID).flatMap { try storedModel($0, home, type) }
    }

    /// The same for an object of a class; nil if it is of another one.
    func existingModel<T: PersistentModel>(for identifier: PersistentIdentifier, as type: T.Type) throws -> T? {
        try existingModel(for: identifier) { found in found.classes.contains { $0.type is T.Type } } as? T
    }

    /// The object of a number that may come from outside, if it is stored and not deleted.
    ///
    /// - Throws: `LogError` if the store cannot be read.
    func storedModel(primaryKey: UInt64, _ home: EntityHome) throws -> (any PersistentModel)? {
        guard primaryKey > 0, primaryKey <= Limits.recordIDMax, let type = home.type else { return nil }
        return try storedModel(primaryKey, home, type)
    }

    private func storedModel(
        _ number: RecordID, _ home: EntityHome, _ type: ModelType
    ) throws -> (any PersistentModel)? {
        try context.beginReading()
        defer { context.endReading() }
        guard try isStored(number, home), let object = anyObject(number, home), let handle = home.handle(of: object),
            !handle.core.pointee.isDeleted
        else { return nil }
        return type.asModel(object)
    }

    /// The number of an identifier of this store; nil for any other.
    func storedNumber(of identifier: PersistentIdentifier) -> RecordID? {
        identifier.storedNumber(in: context.store.log.storeID)
    }

    /// Whether the store has an object in the context's state, or, if that state lacks it, in the newest one: then an
    /// unpinned context moves on to that state, as for a fetch.
    ///
    /// Between `beginReading` and `endReading`.
    private func isStored(_ number: RecordID, _ home: EntityHome) throws -> Bool {
        guard let table = home.entityReference?._withUnsafeGuaranteedRef({ $0.table }) else { return false }
        let location = try context.location(of: number, in: table)
        guard location.isAbsent else {
            home.noteFound(number, at: location, context)
            return true
        }
        if try isInNewest(number, table) { return true }
        guard let link = context.link, let ordinal = home.entity?.ordinal else { return false }
        return try isInDataStore(number, home, ordinal, table, link)
    }

    /// Whether the data store of the container has an object that the local copy lacks; then it is loaded.
    @inline(never)
    private func isInDataStore(
        _ number: RecordID, _ home: EntityHome, _ ordinal: Int, _ table: TableID, _ link: any DataStoreLink
    ) throws -> Bool {
        let identifier = PersistentIdentifier(storeID: home.storeID, entityName: home.entityName, number: number)
        try link.load(identifier, ofEntity: ordinal)
        return try !context.snapshot.location(of: number, in: table).isAbsent
    }

    @inline(never)
    private func isInNewest(_ number: RecordID, _ table: TableID) throws(LogError) -> Bool {
        let newest = context.store.log.snapshot()
        guard newest.sequence != context.snapshot.sequence, try !newest.location(of: number, in: table).isAbsent else {
            return false
        }
        context.moveOn()
        return try !context.snapshot.location(of: number, in: table).isAbsent
    }

    /// Whether an object is stored; if that cannot be read, whether its number was ever assigned: its fault reports the
    /// error when it is read.
    private func mayBeStored(_ number: RecordID, _ home: EntityHome) -> Bool {
        do {
            try context.beginReading()
            defer { context.endReading() }
            return try isStored(number, home)
        } catch {
            if context.link != nil { context.report(error) }
            guard let table = home.entity?.table else { return false }
            return number < context.store.log.snapshot().nextID(of: table)
        }
    }

    /// An object for an identifier without a stored object; it is in no identity map.
    private func absentObject(
        _ number: RecordID, _ home: EntityHome, _ type: ModelType, flags: ModelCore.Flags = []
    ) -> AnyObject {
        if type.family != nil {
            return makeHeir(type.root, number, home, row: .none, flags: [.attached, .gone, .absent, flags])
        }
        let made = withPendingFault(
            number, home, type, row: .none, flags: [.attached, .gone, .absent, flags]
        ) { type.makeFault() }
        _ = type.coreOffset(of: made)
        return made
    }

    /// Retains the context for an object, and makes the object with flags in its core.
    @inline(__always)
    func withPendingFault<T: AnyObject>(
        _ number: RecordID, _ home: EntityHome, _ type: ModelType, row: RowReference,
        flags: ModelCore.Flags = .attached | .registered, _ make: () -> T
    ) -> T {
        _ = Unmanaged.passUnretained(context).retain()
        var pending = PendingFault(
            type: Unmanaged.passUnretained(type), home: Unmanaged.passUnretained(home),
            word: number | flags.rawValue, row: row)
        return withUnsafeMutablePointer(to: &pending) { pointer in
            fl_pending_set(pointer)
            return make()
        }
    }

    /// Reports the read of a property of an object that the store does not have.
    func reportAbsence(of number: RecordID, _ entityName: String) {
        context.report(
            SwiftDataError.missingModelContext.explained(
                "Object \(number) of \(entityName) is not in the store; its properties give placeholders."),
            isOfStore: false)
    }

    /// Whether an object was made for an identifier that the store lacks; if so, the next save throws.
    func refusesAbsent(_ handle: ObjectHandle) -> Bool {
        guard handle.core.pointee.has(.absent) else { return false }
        let name = handle.core.pointee.home.takeUnretainedValue().entityName
        context.refuseSave(
            SwiftDataError.modelValidationFailure.explained(
                "\(name) \(handle.core.pointee.number) is not in the store, so it was not used. Ask existing(_:), which may be nil."
            ))
        return true
    }
}
