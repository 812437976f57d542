internal import FaultlineLog
internal import FaultlineStore
internal import Foundation

extension ModelCore {
    mutating func blob(of slot: Int) -> Blob? {
        if let core = canonicalCore { return core.pointee.blob(of: slot) }
        if _$isNil(slot) { return nil }
        let reference = read({ $0.blobReference(slot) }, { $0.blobReference(slot) }) ?? nil
        guard let reference, let source = blobSource(slot, reference) else {
            return data(of: slot).map { Blob(place: .inline($0)) }
        }
        if let held = heldBlob(reference) { return Blob(place: .stored(held, context?.tally)) }
        do throws(LogError) {
            return try source.blob(reference)
        } catch {
            // An older row may name a value that another save has replaced.
            let isRenewed = renewValue(slot, insteadOf: reference, error)
            return isRenewed ? blob(of: slot) : Blob(place: .unreadable(reference, error))
        }
    }

    /// Sets a slot to another object's value, by reference.
    mutating func setBlob(_ blob: Blob?, of slot: Int) {
        if let core = canonicalCore { return core.pointee.setBlob(blob, of: slot) }
        switch blob?.place {
        case nil:
            if _$beginChange(slot) { _$writeNil(slot) }
        case .inline(let data)?:
            if _$beginChange(slot) { Data._$write(data, &self, slot) }
        case .stored(let held, let tally)?:
            give(GivenBlob(held, tally), to: slot)
        case .uploaded(let upload)?:
            give(GivenBlob(upload), to: slot)
        case .staged(let reference, let source)? where isFixed(source) && mayRefer(to: source):
            refer(to: reference.identifier, reference.byteCount, source, slot)
        case .staged(let reference, let source)?:
            // A save may replace it; or it is in another store, or in a context that reads another state of this store.
            do throws(LogError) {
                guard let core = source as? ContextCore else { return }
                give(try core.given(reference), to: slot)
            } catch {
                refuse(StorageError.translating(error))
            }
        case .unreadable(_, let error)?:
            refuse(StorageError.translating(error))
        }
    }

    private mutating func give(_ blob: GivenBlob, to slot: Int) { refer(to: blob.number, blob.byteCount, blob, slot) }

    private mutating func refer(
        to number: UInt64, _ byteCount: UInt64, _ source: any BlobSource, _ slot: Int
    ) {
        if _$beginChange(slot) { setReference(to: number, byteCount, source, slot) }
    }

    /// Replaces the bytes of a slot by a reference to them.
    mutating func setReference(to number: UInt64, _ byteCount: UInt64, _ source: any BlobSource, _ slot: Int) {
        write { draft in
            draft.setBytes(slot, UnsafeRawBufferPointer(start: nil, count: 0))
            draft.setBlobReference(slot, identifier: number, byteCount: byteCount)
        }
        extra.givenValues[slot] = GivenValue(number: number, source: source)
    }

    /// Whether the values of a source stay where they are while the object is unsaved.
    private func isFixed(_ source: any BlobSource) -> Bool { (source as? ContextCore)?.rules.isReadOnly ?? true }

    /// Whether a save of this object finds a blob that another context can read: one in the same context, or, in a
    /// migration, one of the old state in the same log.
    ///
    /// An object in no context checks that when it is inserted.
    func mayRefer(to source: any BlobSource) -> Bool {
        guard let context, let other = source as? ContextCore else { return true }
        return context === other || context.rules.mayMoveBlob != nil && context.store.log === other.store.log
    }

    /// Holds values that the object was given by reference while it was in no context, if its context cannot save them
    /// so.
    mutating func settleBlobs() {
        guard hasExtra, let values = extraIfPresent?.givenValues, !values.isEmpty else { return }
        values.forEach { slot, value in
            guard !mayRefer(to: value.source) else { return }
            extra.givenValues[slot] = nil
            if let reference = draft?.blobReference(slot), reference.identifier == value.number {
                setBlob(Blob(place: .staged(reference, value.source)), of: slot)
            }
        }
    }

    /// Where the large value of a slot can be read.
    func blobSource(_ slot: Int, _ reference: BlobReference) -> (any BlobSource)? {
        if let value = extraIfPresent?.givenValues[slot], value.number == reference.identifier { return value.source }
        return context
    }
}
