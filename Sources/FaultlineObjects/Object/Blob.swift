public import Foundation
internal import FaultlineLog
internal import FaultlineStore

/// An unread value of an attribute: its size, ranges of it, or a reference for another object.
public struct Blob {
    enum Place {
        /// Out of the row.
        case stored(BlobReference, HeldBlob?, any BlobSource)
        /// In the row, or not saved yet.
        case inline(Data)
    }

    let place: Place

    /// Bytes of the value; nothing is read.
    public var byteCount: Int {
        switch place {
        case .stored(let reference, _, _): Int(clamping: reference.byteCount)
        case .inline(let data): data.count
        }
    }

    /// Reads a range of the value.
    ///
    /// Only the chunks of 64 KiB that the range touches are read and checked.
    ///
    /// - Parameter range: Bytes from the value's start, within `0..<byteCount`.
    /// - Returns: The bytes.
    /// - Throws: `StorageError`: `outOfRange` for bytes outside of the value; other codes if the store cannot be read,
    ///   or the bytes are damaged.
    /// - Complexity: O(n) for n bytes of the range, in whole chunks of 64 KiB.
    public func data(in range: Range<Int>) throws -> Data {
        guard range.lowerBound >= 0, range.upperBound <= byteCount else {
            throw StorageError(outOfRange: range, ofByteCount: byteCount)
        }
        switch place {
        case .inline(let data):
            return data.subdata(in: data.startIndex + range.lowerBound..<data.startIndex + range.upperBound)
        case .stored(let reference, let held, let source):
            source.willHold(range.count)
            var data = Data(count: range.count)
            try StorageError.translating {
                try data.withUnsafeMutableBytes { target in
                    try source.readBlob(
                        reference, held, range: UInt64(range.lowerBound)..<UInt64(range.upperBound), into: target)
                }
            }
            return data
        }
    }

    /// Reads the whole value.
    ///
    /// - Throws: As `data(in:)`.
    /// - Complexity: O(n) for n bytes, all in memory at once: read a large value by ranges.
    public func data() throws -> Data { try data(in: 0..<byteCount) }
}

extension PersistentModel {
    /// A reference to the value of an attribute, without reading it; nil if the value is nil.
    ///
    /// - Complexity: O(1), and a fault for an object that is not loaded.
    public func blob(_ keyPath: KeyPath<Self, Data?>) -> Blob? {
        _$coreAddress().pointee.blob(of: Self.slot(of: keyPath))
    }

    /// A reference to the value of an attribute, without reading it.
    ///
    /// - Complexity: O(1), and a fault for an object that is not loaded.
    public func blob(_ keyPath: KeyPath<Self, Data>) -> Blob? {
        _$coreAddress().pointee.blob(of: Self.slot(of: keyPath))
    }

    /// Sets an attribute to a value of another object, by reference: in a streamed stage no byte of it is read;
    /// elsewhere the save copies it.
    ///
    /// A value of another context is read at once, or when this object is inserted.
    ///
    /// - Complexity: O(1) here; the save copies the n bytes in O(n), except in a streamed stage.
    public func setBlob(_ blob: Blob?, for keyPath: ReferenceWritableKeyPath<Self, Data?>) {
        _$coreAddress().pointee.setBlob(blob, of: Self.slot(of: keyPath))
    }

    /// Sets an attribute to a value of another object, by reference: in a streamed stage no byte of it is read;
    /// elsewhere the save copies it.
    ///
    /// A value of another context is read at once, or when this object is inserted.
    ///
    /// - Complexity: O(1) here; the save copies the n bytes in O(n), except in a streamed stage.
    public func setBlob(_ blob: Blob?, for keyPath: ReferenceWritableKeyPath<Self, Data>) {
        _$coreAddress().pointee.setBlob(blob, of: Self.slot(of: keyPath))
    }

    private static func slot(of keyPath: AnyKeyPath) -> Int {
        guard let slot = _$modelType.slots[keyPath] else {
            preconditionFailure("\(self) has no stored attribute at that key path.")
        }
        return slot
    }
}

extension ModelCore {
    mutating func blob(of slot: Int) -> Blob? {
        if let core = canonicalCore { return core.pointee.blob(of: slot) }
        if _$isNil(slot) { return nil }
        let reference = read({ $0.blobReference(slot) }, { $0.blobReference(slot) }) ?? nil
        if let reference, let source = blobSource(slot, reference) {
            return Blob(place: .stored(reference, heldBlob(reference), source))
        }
        return data(of: slot).map { Blob(place: .inline($0)) }
    }

    /// Sets a slot to another object's value: by reference if the save of this object can copy it, else by reading it.
    mutating func setBlob(_ blob: Blob?, of slot: Int) {
        if let core = canonicalCore { return core.pointee.setBlob(blob, of: slot) }
        switch blob?.place {
        case nil:
            if _$beginChange(slot) { _$writeNil(slot) }
        case .inline(let data)?:
            if _$beginChange(slot) { Data._$write(data, &self, slot) }
        case .stored(let reference, nil, let source)? where mayRefer(to: source):
            guard _$beginChange(slot) else { return }
            write {
                $0.setBytes(slot, UnsafeRawBufferPointer(start: nil, count: 0))
                $0.setBlobReference(slot, identifier: reference.identifier, byteCount: reference.byteCount)
            }
            extra.adoptedBlobs[slot] = reference.identifier
            extra.blobSources[slot] = source
        case .stored?:
            // Its object is deleted, so the value cannot be passed on by reference; or it is in another store, or in a
            // context that reads another state of this store.
            do {
                let data = try blob?.data() ?? Data()
                if _$beginChange(slot) { Data._$write(data, &self, slot) }
            } catch {
                refuse(error)
            }
        }
    }

    /// Whether a save of this object finds a blob that another context can read: one in the same context, or, in a
    /// migration, one of the old state in the same log.
    ///
    /// An object in no context checks that when it is inserted.
    private func mayRefer(to source: any BlobSource) -> Bool {
        guard let context else { return true }
        return context === source || context.rules.mayMoveBlob != nil && context.store.log === source.store.log
    }

    /// Reads values that the object was given by reference while it was in no context, if its context cannot save them
    /// so.
    mutating func settleBlobs() {
        guard hasExtra, let sources = extraIfPresent?.blobSources, !sources.isEmpty else { return }
        for (slot, source) in sources.sorted(by: { $0.key < $1.key }) where !mayRefer(to: source) {
            if let reference = draft?.blobReference(slot), reference.identifier == extra.adoptedBlobs[slot] {
                setBlob(Blob(place: .stored(reference, nil, source)), of: slot)
            }
            extra.adoptedBlobs[slot] = nil
            extra.blobSources[slot] = nil
        }
    }

    /// Where the large value of a slot can be read.
    func blobSource(_ slot: Int, _ reference: BlobReference) -> (any BlobSource)? {
        if let extra = extraIfPresent, extra.adoptedBlobs[slot] == reference.identifier,
            let source = extra.blobSources[slot]
        {
            return source
        }
        return context
    }
}
