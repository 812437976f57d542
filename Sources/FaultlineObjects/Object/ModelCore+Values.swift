internal import Foundation
internal import FaultlineLog
internal import FaultlineStore

// The methods that the macro's accessors call. The overloads are chosen by the property's type; each scalar type has
// its own reader, so that no generic code runs.

extension ModelCore {
    // MARK: Initial values

    /// Sets a new object's property to its first value.
    ///
    /// A fault being made ignores it: its values are stored.
    @inlinable @inline(__always)
    public mutating func initialize<V: StoredScalar>(_ slot: Int, to value: V) {
        guard _$beginInitialValue() else { return }
        V._$write(value, &self, slot)
    }

    /// Sets a new object's optional property to its first value, which may be nil.
    @inlinable @inline(__always)
    public mutating func initialize<V: StoredScalar>(_ slot: Int, to value: V?) {
        guard _$beginInitialValue() else { return }
        if let value { V._$write(value, &self, slot) } else { _$writeNil(slot) }
    }

    /// Sets a new object's property to its first value, stored as its raw value.
    @inlinable @inline(__always)
    public mutating func initialize<V: RawRepresentable>(_ slot: Int, to value: V) where V.RawValue: StoredScalar {
        guard _$beginInitialValue() else { return }
        V.RawValue._$write(value.rawValue, &self, slot)
    }

    /// Sets a new object's optional property to its first value, stored as its raw value or nil.
    @inlinable @inline(__always)
    public mutating func initialize<V: RawRepresentable>(_ slot: Int, to value: V?) where V.RawValue: StoredScalar {
        guard _$beginInitialValue() else { return }
        if let value { V.RawValue._$write(value.rawValue, &self, slot) } else { _$writeNil(slot) }
    }

    /// Sets a new object's property to its first value, stored in the nested encoding.
    ///
    /// A value that cannot be encoded is reported to the context.
    @_disfavoredOverload
    public mutating func initialize<V: Codable>(_ slot: Int, to value: V) {
        guard _$beginInitialValue() else { return }
        writeNested(slot, value)
    }

    // MARK: Reading

    /// Reads a scalar, from the draft or the row, which is loaded if necessary; a placeholder if it cannot be read.
    @inlinable @inline(__always)
    public mutating func value<V: StoredScalar>(_ slot: Int) -> V { V._$read(&self, slot) }

    /// Reads an optional scalar; nil also if there is no readable row.
    @inlinable @inline(__always)
    public mutating func value<V: StoredScalar>(_ slot: Int) -> V? {
        _$isNil(slot) ? nil : V._$read(&self, slot)
    }

    /// Reads a value stored as its raw value; a placeholder if no case has it, which is reported to the context.
    @inlinable @inline(__always)
    public mutating func value<V: RawRepresentable>(_ slot: Int) -> V where V.RawValue: StoredScalar {
        if let value = V(rawValue: V.RawValue._$read(&self, slot)) { return value }
        return _$unknownRawValue(slot)
    }

    /// Reads an optional value stored as its raw value; nil also if no case has it, which is reported to the context.
    @inlinable @inline(__always)
    public mutating func value<V: RawRepresentable>(_ slot: Int) -> V? where V.RawValue: StoredScalar {
        if _$isNil(slot) { return nil }
        if let value = V(rawValue: V.RawValue._$read(&self, slot)) { return value }
        _$noteUnknownRawValue(slot)
        return nil
    }

    /// Reads a value stored in the nested encoding; a placeholder if it cannot be decoded, which is reported to the
    /// context.
    @_disfavoredOverload
    public mutating func value<V: Codable>(_ slot: Int) -> V { readNested(slot) }

    // MARK: Writing

    /// Changes a scalar in the draft; the next save writes it.
    @inlinable @inline(__always)
    public mutating func setValue<V: StoredScalar>(_ slot: Int, to value: V) {
        guard _$beginChange(slot) else { return }
        V._$write(value, &self, slot)
    }

    /// Changes an optional scalar in the draft; the next save writes it.
    @inlinable @inline(__always)
    public mutating func setValue<V: StoredScalar>(_ slot: Int, to value: V?) {
        guard _$beginChange(slot) else { return }
        if let value { V._$write(value, &self, slot) } else { _$writeNil(slot) }
    }

    /// Changes a value stored as its raw value in the draft; the next save writes it.
    @inlinable @inline(__always)
    public mutating func setValue<V: RawRepresentable>(_ slot: Int, to value: V) where V.RawValue: StoredScalar {
        guard _$beginChange(slot) else { return }
        V.RawValue._$write(value.rawValue, &self, slot)
    }

    /// Changes an optional value stored as its raw value in the draft; the next save writes it.
    @inlinable @inline(__always)
    public mutating func setValue<V: RawRepresentable>(_ slot: Int, to value: V?) where V.RawValue: StoredScalar {
        guard _$beginChange(slot) else { return }
        if let value { V.RawValue._$write(value.rawValue, &self, slot) } else { _$writeNil(slot) }
    }

    /// Changes a value stored in the nested encoding in the draft; the next save writes it.
    ///
    /// A value that cannot be encoded is reported to the context, and the slot does not change.
    @_disfavoredOverload
    public mutating func setValue<V: Codable>(_ slot: Int, to value: V) {
        guard _$beginChange(slot) else { return }
        writeNested(slot, value)
    }

    // MARK: Parts of these methods

    /// Prepares the object for a change of a slot; false if a change cannot be made.
    @inline(__always)
    public mutating func _$beginChange(_ slot: Int) -> Bool {
        noteChange(slot)
        return makeChangeable(slot)
    }

    /// The same for a change that no property shows.
    @inline(__always)
    mutating func makeChangeable(_ slot: Int) -> Bool {
        if draftPointer != nil, !has(.indexed), !has(.refused), isInDraft { return true }
        return makeChangeableSlowly(slot)
    }

    /// Whether changes of the draft, if there is one, are unsaved changes.
    @inline(__always)
    private var isInDraft: Bool { !has(.attached) || has(.inserted) || has(.changed) }

    @inline(never)
    private mutating func makeChangeableSlowly(_ slot: Int) -> Bool {
        if has(.attached), has(.refused) { settleRefusal(slot) }
        if has(.indexed) {
            noteIndexedChange()
            return makeChangeable(slot)
        }
        if draftPointer != nil, isInDraft { return true }
        if let core = canonicalCore { return core.pointee._$beginChange(slot) }
        if has(.absent) {
            refuseChange(slot, "is not in the store, so it was not changed")
            return false
        }
        guard has(.attached) else {
            draftPointer = Draft.create(layout: home._withUnsafeGuaranteedRef { $0.layout }).block
            return true
        }
        if draftPointer == nil {
            let layout = home._withUnsafeGuaranteedRef { $0.layout }
            if let row = loadedRow() {
                let location = RowArena.location(row.base)
                draftPointer = Draft.create(copying: row, layout: layout).block
                setBase(location)
                keepOriginal()
            } else {
                if refusesAsDeletedElsewhere() { return false }
                guard has(.gone) || has(.damaged) else {
                    refuseChange(slot, "could not be read, so it was not changed")
                    return false
                }
                // A missing row is no base.
                self.row = .none
                draftPointer = Draft.create(layout: layout).block
            }
        }
        if has(.gone) { return true }
        if has(.damaged) {
            if !has(.deleted) { refuseChange(slot, "was read with stand-in values, so it cannot be saved") }
            return true
        }
        // An object that is to be deleted may be kept after all.
        insert(.changed)
        let address = objectAddress
        contextHome?._withUnsafeGuaranteedRef { $0.context.registerChange(address, $0) }
        return true
    }

    /// Keeps the original values in the context, if it detects conflicts.
    @inline(__always)
    private func keepOriginal() {
        guard let home = contextHome, let draft else { return }
        home._withUnsafeGuaranteedRef { home in
            home.contextReference._withUnsafeGuaranteedRef {
                if $0.conflicts != nil { OriginalKeeper($0).keepOriginal(draft, base: base, number, home) }
            }
        }
    }

    /// Writes nil to a slot of the draft; does nothing without a draft.
    public mutating func _$writeNil(_ slot: Int) { write { $0.setNil(slot) } }

    /// Whether a slot is nil; true also if there is no readable row.
    public mutating func _$isNil(_ slot: Int) -> Bool {
        noteRead(slot)
        return read({ $0.isNil(slot) }, { $0.isNil(slot) }) ?? true
    }

    /// The placeholder for a raw value that no case of the property's type has: the declared default, else the first
    /// case.
    public mutating func _$unknownRawValue<V: RawRepresentable>(_ slot: Int) -> V where V.RawValue: StoredScalar {
        unknownCase(slot) ?? V(rawValue: V.RawValue._$standIn) ?? standInOrEnd(slot)
    }

    /// The same for any type with cases; nil if it declares no default and its cases are not known.
    mutating func unknownCase<V>(_ slot: Int) -> V? {
        _$noteUnknownRawValue(slot)
        if let value = home._withUnsafeGuaranteedRef({ $0.type?.defaultValue(of: slot) }) as? V { return value }
        if let type = V.self as? any CaseIterable.Type, let value = type.firstCase as? V { return value }
        return FirstCase.of(V.self)
    }

    /// Reports a raw value that no case of the property's type has, and marks the object.
    public mutating func _$noteUnknownRawValue(_ slot: Int) { report(.unknownCase(slot: slot)) }

    /// The URL of a slot; nil if it cannot be read, or its text is none; both are reported to the context.
    mutating func url(of slot: Int) -> URL? {
        noteRead(slot)
        guard let text = withBytes(of: slot, { String(decoding: $0, as: UTF8.self) }) else { return nil }
        if let url = URL(string: text) { return url }
        // A new object has no text yet.
        if has(.attached), !has(.inserted) { report(.unknownURL(slot: slot)) }
        return nil
    }

    // MARK: Variable values

    /// Passes the bytes of a variable value to `body`, from the row or outside; nil if they cannot be read.
    mutating func withBytes<R>(of slot: Int, _ body: (UnsafeRawBufferPointer) -> R) -> R? {
        if let core = canonicalCore { return core.pointee.withBytes(of: slot, body) }
        let reference: BlobReference
        if let draftPointer {
            let draft = Draft(block: draftPointer)
            guard let blob = draft.blobReference(slot) else { return body(draft.variable(slot)) }
            reference = blob
        } else if let row = loadedRow() {
            guard let blob = row.blobReference(slot) else { return body(row.variable(slot)) }
            reference = blob
        } else {
            return nil
        }
        return withBlob(reference, slot, body)
    }

    private mutating func withBlob<R>(
        _ reference: BlobReference, _ slot: Int, _ body: (UnsafeRawBufferPointer) -> R
    ) -> R? {
        guard let source = blobSource(slot, reference), let byteCount = Int(exactly: reference.byteCount) else {
            return nil
        }
        source.willHold(byteCount)
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: max(byteCount, 1), alignment: 16)
        defer { bytes.deallocate() }
        do throws(LogError) {
            let target = UnsafeMutableRawBufferPointer(rebasing: bytes[..<byteCount])
            try source.readBlob(
                reference, heldBlob(reference), into: target, of: number, home.takeUnretainedValue().entity, slot)
            return body(UnsafeRawBufferPointer(target))
        } catch {
            return renewValue(slot, insteadOf: reference, error) ? withBytes(of: slot, body) : nil
        }
    }

    /// Passes the bytes of a variable value to code that may call user code: that may fetch, or change the object, so
    /// the bytes are kept where neither moves them.
    private mutating func withBytesOfItsOwn<R>(of slot: Int, _ body: (UnsafeRawBufferPointer) -> R) -> R? {
        if let core = canonicalCore { return core.pointee.withBytesOfItsOwn(of: slot, body) }
        guard let isOutOfRow = read({ $0.blobReference(slot) != nil }, { $0.blobReference(slot) != nil }) else {
            return nil
        }
        if isOutOfRow { return withBytes(of: slot, body) }
        guard let copy = withBytes(of: slot, { [UInt8]($0) }) else { return nil }
        return copy.withUnsafeBytes(body)
    }

    /// A large value, held since the object's deletion was saved.
    func heldBlob(_ reference: BlobReference) -> HeldBlob? { extraIfPresent?.lastBlobs[reference.identifier] }

    mutating func data(of slot: Int) -> Data? {
        if let core = canonicalCore { return core.pointee.data(of: slot) }
        let reference: BlobReference
        if let draftPointer {
            let draft = Draft(block: draftPointer)
            guard let blob = draft.blobReference(slot) else { return Data(draft.variable(slot)) }
            reference = blob
        } else if let row = loadedRow() {
            guard let blob = row.blobReference(slot) else { return Data(row.variable(slot)) }
            reference = blob
        } else {
            return nil
        }
        // Read directly into the data's own memory.
        guard let source = blobSource(slot, reference), let byteCount = Int(exactly: reference.byteCount) else {
            return nil
        }
        let stage = context?.stage
        let reader = stage == nil ? nil : source as? ContextCore
        if let stage, let reader, let data = readValue(reference, by: reader, in: stage) { return data }
        source.willHold(byteCount)
        var data = Data(count: byteCount)
        let held = heldBlob(reference)
        let entity = home.takeUnretainedValue().entity
        let number = number
        var failure: LogError?
        data.withUnsafeMutableBytes { target in
            do throws(LogError) {
                try source.readBlob(reference, held, into: target, of: number, entity, slot)
            } catch { failure = error }
        }
        if let failure { return renewValue(slot, insteadOf: reference, failure) ? self.data(of: slot) : nil }
        if let stage, let reader { keepReadValue(data, reference, by: reader, in: stage) }
        return data
    }

    mutating func writeNested<V: Encodable>(_ slot: Int, _ value: V) {
        if !has(.attached) { forgetRefusal(slot) }
        if let optional = value as? any OptionalNil, optional.isNilValue {
            _$writeNil(slot)
            return
        }
        do {
            let bytes = try NestedEncoder.encode(value, scalars: FoundationScalars())
            write { draft in bytes.withUnsafeBytes { draft.setBytes(slot, $0) } }
        } catch {
            report(.unencodable(slot: slot, error))
        }
    }

    mutating func readNested<V: Codable>(_ slot: Int) -> V {
        noteRead(slot)
        if let optional = V.self as? any OptionalNil.Type, _$isNil(slot), let value = optional.makeNil() as? V {
            return value
        }
        let result: Result<V, any Error>? = withBytesOfItsOwn(of: slot) { bytes in
            Result { try NestedDecoder.decode(V.self, from: bytes, scalars: FoundationScalars()) }
        }
        switch result {
        case .success(let value): return value
        case .failure(let error): report(.undecodable(slot: slot, error))
        case nil: break
        }
        return standInOrEnd(slot)
    }

    /// The placeholder for an unreadable value: the declared default, nil, or the value that the type decodes from
    /// zeros.
    ///
    /// A type with none of these ends the process: the only case of damage in a getter that does (`docs/Faulting.md`).
    mutating func standInOrEnd<V>(_ slot: Int) -> V {
        if let optional = V.self as? any OptionalNil.Type, let value = optional.makeNil() as? V { return value }
        if let value = home._withUnsafeGuaranteedRef({ $0.type?.defaultValue(of: slot) }) as? V { return value }
        if let decodable = V.self as? any Decodable.Type, let value = ZeroDecoder.decode(decodable) as? V {
            return value
        }
        if let value = FirstCase.of(V.self) { return value }
        preconditionFailure(
            "A damaged value of type \(V.self) has no stand-in. Declare a default for the property, or read it with try object.load() first."
        )
    }
}

extension CaseIterable {
    fileprivate static var firstCase: Any? { allCases.first }
}
