internal import CFaultline
internal import FaultlineDisk
internal import FaultlineLog
internal import FaultlineStore

/// The objects of a context: the one object of each stored row, made as a fault when it is first asked for.
///
/// Finds objects by number, by reference and by identifier; the identity maps are in the homes of the entities.
struct ObjectRegistry {
    let context: ContextCore

    @inline(__always)
    init(_ context: ContextCore) { self.context = context }

    /// The registered object of a number, retained; nil if none is alive.
    func registeredObject(_ number: RecordID, _ home: EntityHome) -> AnyObject? {
        context.lock.lock()
        defer { context.lock.unlock() }
        let address = home.identities.address(of: number)
        if address == 0 {
            // Mostly an object is made next, with its row if that is in memory.
            home.recentRows.prefetch(number)
            return nil
        }
        return livingObject(address)
    }

    /// The handle of the registered object of a number; nil if none is alive.
    func registeredHandle(_ number: RecordID, _ home: EntityHome) -> ObjectHandle? {
        registeredObject(number, home).flatMap { home.handle(of: $0) }
    }

    /// Under the lock.
    @inline(__always)
    func livingObject(_ address: UInt) -> AnyObject? {
        guard let pointer = UnsafeMutableRawPointer(bitPattern: address), fl_try_retain(pointer) else { return nil }
        return Unmanaged<AnyObject>.fromOpaque(pointer).takeRetainedValue()
    }

    /// The one object of a stored row: the registered one, or a new fault.
    ///
    /// `row` is the object's row, if it was loaded, for a new fault.
    func object<T: PersistentModel>(
        _ number: RecordID, _ home: EntityHome, row: RowReference = .none, as type: T.Type
    ) -> T {
        if let metadata = home.typeReference?._withUnsafeGuaranteedRef({ $0.bareMetadata }) {
            // Safe because the identity map of a home holds objects of its class only.
            return unsafeDowncast(bareObject(number, home, metadata, row: row), to: T.self)
        }
        if let family = home.type?.family { return heir(number, home, family, row: row, as: type) }
        if let found = registeredObject(number, home) {
            // Safe because the identity map of a home holds objects of its class only.
            return unsafeDowncast(found, to: T.self)
        }
        return makeFault(number, home, row: row, as: type)
    }

    /// The same for an entity whose class is known only at run time.
    func anyObject(_ number: RecordID, _ home: EntityHome, row: RowReference = .none) -> AnyObject? {
        if let metadata = home.typeReference?._withUnsafeGuaranteedRef({ $0.bareMetadata }) {
            return bareObject(number, home, metadata, row: row)
        }
        if let found = registeredObject(number, home) { return found }
        guard let type = home.type else { return nil }
        if let family = type.family {
            return makeHeir(number, home, family, row: row) ?? unknownHeir(family.classes[0], number, home)
        }
        let made = withPendingFault(number, home, type, row: row) { type.makeFault() }
        // Computed before the first change: the context finds the object of a core by this offset.
        _ = type.coreOffset(of: made)
        register(made, number, home)
        return made
    }

    /// The object of a class that has no stored properties but its core: the registered one, or a new fault.
    ///
    /// Takes the lock once.
    private func bareObject(
        _ number: RecordID, _ home: EntityHome, _ metadata: UnsafeRawPointer, row: RowReference = .none
    ) -> AnyObject {
        context.lock.lock()
        defer { context.lock.unlock() }
        let address = home.identities.address(of: number)
        if let pointer = UnsafeMutableRawPointer(bitPattern: address), fl_try_retain(pointer) {
            return Unmanaged<AnyObject>.fromOpaque(pointer).takeRetainedValue()
        }
        _ = Unmanaged.passUnretained(context).retain()
        let row = row == .none ? recentRow(number, home) : row
        let made = BareObject.makeFault(metadata, number, Unmanaged.passUnretained(home), row: row)
        home.identities.insert(UInt(bitPattern: made), for: number)
        return Unmanaged<AnyObject>.fromOpaque(made).takeRetainedValue()
    }

    /// The row that was loaded for an earlier object of a number that was just found, if it is in memory and the newest.
    ///
    /// Under the lock.
    @inline(__always)
    private func recentRow(_ number: RecordID, _ home: EntityHome) -> RowReference {
        guard home.found.number == number, home.found.changeCount == context.hold.changeCount,
            context.state.waitForOthers == nil
        else { return .none }
        let reference = home.recentRows.row(of: number)
        guard let row = context.rows.row(reference), RowArena.location(row) == home.found.location else { return .none }
        return reference
    }

    private func makeFault<T: PersistentModel>(
        _ number: RecordID, _ home: EntityHome, row: RowReference, as type: T.Type
    ) -> T {
        let made = withPendingFault(number, home, T._$modelType, row: row) { T(_$fault: FaultToken()) }
        T._$modelType.learnCoreOffset(of: made)
        register(made, number, home)
        return made
    }

    // MARK: Several classes

    /// The object of a row of a table with several classes.
    ///
    /// A fetch of a class finds its rows only. If the row is one of another class all the same, the object is of the
    /// class that the caller expects, in no identity map, and without values: they would be those of other properties.
    private func heir<T: PersistentModel>(
        _ number: RecordID, _ home: EntityHome, _ family: ModelFamily, row: RowReference, as type: T.Type
    ) -> T {
        let own = T._$modelType
        let found =
            registeredObject(number, home) ?? makeHeir(number, home, family, row: row)
            ?? unknownHeir(own, number, home)
        if let object = found as? T { return object }
        context.report(
            StoreError(
                .malformed,
                "Object \(number) of \(home.entityName) is no \(own.entityName), although an index or a row says so. Run `faultline verify`."
            ))
        // Safe because the object is made by its class.
        return unsafeDowncast(
            makeHeir(own, number, home, row: .none, flags: .attached | .gone | .absent), to: T.self)
    }

    /// Makes the fault of a row of a table with several classes: its row says of which one; nil if it cannot be read.
    private func makeHeir(
        _ number: RecordID, _ home: EntityHome, _ family: ModelFamily, row: RowReference
    ) -> AnyObject? {
        var row = row
        guard let place = place(of: number, home, family, &row) else { return nil }
        let made = makeHeir(family.classes[place], number, home, row: row, flags: .attached | .registered)
        register(made, number, home)
        return made
    }

    /// Makes the object of a row that cannot be read, of a class that may not be the row's: it is in no identity map, and
    /// is not saved.
    private func unknownHeir(_ type: ModelType, _ number: RecordID, _ home: EntityHome) -> AnyObject {
        makeHeir(type, number, home, row: .none, flags: .attached | .damaged)
    }

    /// Makes an object of a class of a table.
    ///
    /// Its initializers run as those of an object in no context, because others that they make must not take the fault's
    /// place. Only then it becomes a fault.
    func makeHeir(
        _ type: ModelType, _ number: RecordID, _ home: EntityHome, row: RowReference, flags: ModelCore.Flags
    ) -> AnyObject {
        let made = type.makeFault()
        _ = home.type?.coreOffset(of: made)
        type.settle(made)
        _ = Unmanaged.passUnretained(context).retain()
        home.core(of: made)?.pointee.begin(number | flags.rawValue, home: .passUnretained(home), row: row)
        return made
    }

    /// The position of a row's class; the row is read if it is not in memory, and is in memory then.
    ///
    /// Nil if the row cannot be read, which is reported.
    private func place(
        of number: RecordID, _ home: EntityHome, _ family: ModelFamily, _ row: inout RowReference
    ) -> Int? {
        if let known = RowCache(context).loadedRow(row) { return family.hierarchy.place(of: RowArena.view(known)) }
        guard let entity = home.entity else { return nil }
        do {
            try context.beginReading()
            defer { context.endReading() }
            guard let (found, reference) = try RowCache(context).rowInMemory(number, home, entity) else { return nil }
            row = reference
            return family.hierarchy.place(of: RowArena.view(found))
        } catch {
            context.report(error)
            return nil
        }
    }

    private func register(_ object: AnyObject, _ number: RecordID, _ home: EntityHome) {
        context.lock.lock()
        home.identities.insert(UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()), for: number)
        context.lock.unlock()
    }

    /// Appends the objects of `numbers` to a buffer: registered ones, or faults, in the order given.
    ///
    /// Takes the lock once or twice in all, not twice for each object, and retains the context once.
    func appendObjects<T: PersistentModel>(
        _ numbers: UnsafeBufferPointer<RecordID>, rows references: UnsafePointer<RowReference>?, _ home: EntityHome,
        to target: UnsafeMutablePointer<T>
    ) {
        guard home.type?.family == nil else {
            for index in 0..<numbers.count {
                (target + index).initialize(
                    to: object(numbers[index], home, row: references?[index] ?? .none, as: T.self))
            }
            return
        }
        if let metadata = T._$modelType.bareMetadata {
            appendBareObjects(
                numbers, rows: references, home, metadata,
                // Safe because a reference to an object is one address for every class.
                to: UnsafeMutableRawPointer(target).assumingMemoryBound(to: UnsafeMutableRawPointer.self))
            return
        }
        let count = numbers.count
        withUnsafeTemporaryAllocation(of: Bool.self, capacity: count) { isNew in
            context.lock.lock()
            home.identities.reserve(count)
            for index in 0..<count {
                let found = livingObject(home.identities.address(of: numbers[index]))
                isNew[index] = found == nil
                // Safe because the identity map of a home holds objects of its class only.
                if let found { (target + index).initialize(to: unsafeDowncast(found, to: T.self)) }
            }
            context.lock.unlock()
            let type = T._$modelType
            for index in 0..<count where isNew[index] {
                let row = references?[index] ?? .none
                let made = withPendingFault(numbers[index], home, type, row: row) { T(_$fault: FaultToken()) }
                (target + index).initialize(to: made)
            }
            context.lock.lock()
            for index in 0..<count where isNew[index] {
                let address = UInt(bitPattern: Unmanaged.passUnretained(target[index]).toOpaque())
                home.identities.insert(address, for: numbers[index])
            }
            context.lock.unlock()
        }
        if count > 0 { home.type?.learnCoreOffset(of: target[0]) }
    }

    private func appendBareObjects(
        _ numbers: UnsafeBufferPointer<RecordID>, rows references: UnsafePointer<RowReference>?, _ home: EntityHome,
        _ metadata: UnsafeRawPointer, to target: UnsafeMutablePointer<UnsafeMutableRawPointer>
    ) {
        let homeReference: Unmanaged<ObjectHome> = .passUnretained(home)
        var madeCount: UInt32 = 0
        context.lock.lock()
        home.identities.reserve(numbers.count)
        for index in 0..<numbers.count {
            let number = numbers[index]
            let address = home.identities.address(of: number)
            if let pointer = UnsafeMutableRawPointer(bitPattern: address), fl_try_retain(pointer) {
                target[index] = pointer
                continue
            }
            let made = BareObject.makeFault(metadata, number, homeReference, row: references?[index] ?? .none)
            home.identities.insert(UInt(bitPattern: made), for: number)
            target[index] = made
            madeCount &+= 1
        }
        // Retained before another thread can release one of them.
        if madeCount > 0 { fl_retain_many(Unmanaged.passUnretained(context).toOpaque(), madeCount) }
        context.lock.unlock()
    }

    // MARK: References

    /// The object that a reference leads to; nil for a nil reference, and for a deleted object.
    func object(_ reference: ObjectReference, _ home: EntityHome) -> AnyObject? {
        if reference.isNil { return nil }
        if reference.isTemporary {
            return context.pending.insertedObject(reference.number).flatMap {
                $0.core.pointee.isDeleted ? nil : $0.object
            }
        }
        let found = registeredObject(reference.number, home)
        if let found {
            guard let core = home.core(of: found), !core.pointee.isDeleted else { return nil }
            if !context.state.mayHaveDeletedFaults || !core.pointee.isFault { return found }
        }
        // A reference to a missing row is nil: `docs/Faulting.md` says when references dangle.
        guard let entity = home.entity else { return nil }
        if let deletes = context.saving.deletes, deletes(reference, entity.ordinal) { return nil }
        do throws(LogError) {
            try context.beginReading()
            defer { context.endReading() }
            let location = try context.location(of: reference.number, in: entity.table)
            guard !location.isAbsent else { return nil }
            home.noteFound(reference.number, at: location, context)
        } catch {
            context.report(error)
            return nil
        }
        return found ?? anyObject(reference.number, home)
    }

    /// The object that a reference leads to, including one that is to be deleted: delete rules use its references at
    /// that time.
    func partner(_ reference: ObjectReference, _ home: EntityHome) -> ObjectHandle? {
        if reference.isTemporary { return context.pending.insertedObject(reference.number) }
        if !reference.isNil, let found = registeredHandle(reference.number, home) {
            return found.core.pointee.has(.gone) ? nil : found
        }
        return object(reference, home).flatMap { home.handle(of: $0) }
    }
}
