public import Foundation

extension PersistentModel {
    /// A reference to the value of an attribute, without reading it; nil if the value is nil.
    ///
    /// - Complexity: O(1): one small read of a large value's place, and a fault for an object that is not loaded.
    public func blob(_ keyPath: KeyPath<Self, Data?>) -> Blob? {
        _$coreAddress().pointee.blob(of: slot(of: keyPath))
    }

    /// A reference to the value of an attribute, without reading it.
    ///
    /// - Complexity: O(1): one small read of a large value's place, and a fault for an object that is not loaded.
    public func blob(_ keyPath: KeyPath<Self, Data>) -> Blob? {
        _$coreAddress().pointee.blob(of: slot(of: keyPath))
    }

    /// Sets an attribute to a value of another object, or to one that a `BlobWriter` has written, by reference.
    ///
    /// The save takes over the bytes of a `BlobWriter`, unless another save has, and copies others chunk by chunk, so
    /// that no large value is in memory. In a streamed stage no byte is read, nor in a custom stage if the save gives
    /// the value up that the other object has.
    ///
    /// - Complexity: O(1) here; the save copies the n bytes in O(n), except those of a `BlobWriter`, in a streamed
    ///   stage, and of a value that a custom stage moves.
    public func setBlob(_ blob: Blob?, for keyPath: ReferenceWritableKeyPath<Self, Data?>) {
        _$coreAddress().pointee.setBlob(blob, of: slot(of: keyPath))
    }

    /// Sets an attribute to a value of another object, or to one that a `BlobWriter` has written, by reference.
    ///
    /// As the form for an optional attribute.
    ///
    /// - Complexity: As the form for an optional attribute.
    public func setBlob(_ blob: Blob?, for keyPath: ReferenceWritableKeyPath<Self, Data>) {
        _$coreAddress().pointee.setBlob(blob, of: slot(of: keyPath))
    }

    private func slot(of keyPath: AnyKeyPath) -> Int {
        guard let slot = ObjectHandle(self).slot(of: keyPath, Self.self) else {
            preconditionFailure("\(Self.self) has no stored attribute at that key path.")
        }
        return slot
    }
}
