internal import CFaultline
internal import FaultlineDisk
internal import FaultlineLog

// The one object of each stored row that a context shows.

extension ContextCore {
    /// The registered object of a number, retained; nil if none is alive.
    func registeredObject(_ number: RecordID, _ home: EntityHome) -> AnyObject? {
        lock.lock()
        defer { lock.unlock() }
        return livingObject(home.identities.address(of: number))
    }

    /// Under the lock.
    @inline(__always)
    func livingObject(_ address: UInt) -> AnyObject? {
        guard let pointer = UnsafeMutableRawPointer(bitPattern: address), fl_try_retain(pointer) else { return nil }
        return Unmanaged<AnyObject>.fromOpaque(pointer).takeRetainedValue()
    }

    /// The one object of a stored row: the registered one, or a new fault.
    func object<T: PersistentModel>(_ number: RecordID, _ home: EntityHome, as type: T.Type) -> T {
        if let metadata = T._$modelType.bareMetadata {
            // Safe because the identity map of a home holds objects of its class only.
            return unsafeDowncast(bareObject(number, home, metadata), to: T.self)
        }
        if let found = registeredObject(number, home) {
            // Safe because the identity map of a home holds objects of its class only.
            return unsafeDowncast(found, to: T.self)
        }
        return makeFault(number, home, row: .none, as: type)
    }

    /// The same for an entity whose class is known only at run time.
    func anyObject(_ number: RecordID, _ home: EntityHome) -> AnyObject? {
        if let metadata = home.type?.bareMetadata { return bareObject(number, home, metadata) }
        if let found = registeredObject(number, home) { return found }
        guard let type = home.type else { return nil }
        let made = withPendingFault(number, home, type, row: .none) { type.makeFault() }
        // Computed before the first change: the context finds the object of a core by this offset.
        _ = type.coreOffset(of: made)
        register(made, number, home)
        return made
    }

    /// The object of a class that has no stored properties but its core: the registered one, or a new fault.
    ///
    /// Takes the lock once.
    private func bareObject(_ number: RecordID, _ home: EntityHome, _ metadata: UnsafeRawPointer) -> AnyObject {
        lock.lock()
        defer { lock.unlock() }
        let address = home.identities.address(of: number)
        if let pointer = UnsafeMutableRawPointer(bitPattern: address), fl_try_retain(pointer) {
            return Unmanaged<AnyObject>.fromOpaque(pointer).takeRetainedValue()
        }
        _ = Unmanaged.passUnretained(self).retain()
        let made = BareObject.makeFault(metadata, number, Unmanaged.passUnretained(home), row: .none)
        home.identities.insert(UInt(bitPattern: made), for: number)
        return Unmanaged<AnyObject>.fromOpaque(made).takeRetainedValue()
    }

    private func makeFault<T: PersistentModel>(
        _ number: RecordID, _ home: EntityHome, row: RowReference, as type: T.Type
    ) -> T {
        let made = withPendingFault(number, home, T._$modelType, row: row) { T(_$fault: FaultToken()) }
        T._$modelType.learnCoreOffset(of: made)
        register(made, number, home)
        return made
    }

    private func register(_ object: AnyObject, _ number: RecordID, _ home: EntityHome) {
        lock.lock()
        home.identities.insert(UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()), for: number)
        lock.unlock()
    }

    /// Appends the objects of `numbers` to a buffer: registered ones, or faults, in the order given.
    ///
    /// Takes the lock once or twice in all, not twice for each object, and retains the context once.
    func appendObjects<T: PersistentModel>(
        _ numbers: UnsafeBufferPointer<RecordID>, rows references: UnsafePointer<RowReference>?, _ home: EntityHome,
        to target: UnsafeMutablePointer<T>
    ) {
        if let metadata = T._$modelType.bareMetadata {
            appendBareObjects(
                numbers, rows: references, home, metadata,
                // Safe because a reference to an object is one address for every class.
                to: UnsafeMutableRawPointer(target).assumingMemoryBound(to: UnsafeMutableRawPointer.self))
            return
        }
        let count = numbers.count
        withUnsafeTemporaryAllocation(of: Bool.self, capacity: count) { isNew in
            lock.lock()
            home.identities.reserve(count)
            for index in 0..<count {
                let found = livingObject(home.identities.address(of: numbers[index]))
                isNew[index] = found == nil
                // Safe because the identity map of a home holds objects of its class only.
                if let found { (target + index).initialize(to: unsafeDowncast(found, to: T.self)) }
            }
            lock.unlock()
            let type = T._$modelType
            for index in 0..<count where isNew[index] {
                let row = references?[index] ?? .none
                let made = withPendingFault(numbers[index], home, type, row: row) { T(_$fault: FaultToken()) }
                (target + index).initialize(to: made)
            }
            lock.lock()
            for index in 0..<count where isNew[index] {
                let address = UInt(bitPattern: Unmanaged.passUnretained(target[index]).toOpaque())
                home.identities.insert(address, for: numbers[index])
            }
            lock.unlock()
        }
        if count > 0 { home.type?.learnCoreOffset(of: target[0]) }
    }

    private func appendBareObjects(
        _ numbers: UnsafeBufferPointer<RecordID>, rows references: UnsafePointer<RowReference>?, _ home: EntityHome,
        _ metadata: UnsafeRawPointer, to target: UnsafeMutablePointer<UnsafeMutableRawPointer>
    ) {
        let homeReference = Unmanaged.passUnretained(home)
        var madeCount: UInt32 = 0
        lock.lock()
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
        if madeCount > 0 { fl_retain_many(Unmanaged.passUnretained(self).toOpaque(), madeCount) }
        lock.unlock()
    }
}
