internal import CFaultline
internal import FaultlineLog

/// Makes objects of classes that have no stored property but their core: most model classes.
///
/// For them the macro's initializer of a fault only makes the core, after it has read the class's default values. Here
/// memory and core are made directly, in a third of the time.
enum BareObject {
    /// Bytes of the object's header, which the core follows.
    static let coreOffset = 16
    static let byteCount = coreOffset + MemoryLayout<ModelCore>.size

    /// The metadata of a class whose instances are a header and a core; nil for other classes.
    ///
    /// Reads class metadata at the offsets of the Swift ABI without Objective-C: superclass at 8, address point at 20,
    /// bytes of an instance at 24, alignment at 28.
    static func metadata<Model: AnyObject>(of type: Model.Type) -> UnsafeRawPointer? {
        #if _runtime(_ObjC) || !_pointerBitWidth(_64)
        return nil
        #else
        guard let metadata = UnsafeRawPointer(bitPattern: UInt(bitPattern: ObjectIdentifier(type))),
            metadata.load(fromByteOffset: 8, as: UInt.self) == 0,
            metadata.load(fromByteOffset: 20, as: UInt32.self) == 0,
            metadata.load(fromByteOffset: 24, as: UInt32.self) == byteCount,
            metadata.load(fromByteOffset: 28, as: UInt16.self) == 7
        else { return nil }
        return metadata
        #endif
    }

    /// Makes a fault with one reference, which belongs to the caller.
    ///
    /// The caller retains the context for it.
    @inline(__always)
    static func makeFault(
        _ metadata: UnsafeRawPointer, _ number: RecordID, _ home: Unmanaged<ObjectHome>, row: RowReference
    ) -> UnsafeMutableRawPointer {
        // Safe because the runtime ends the process if there is no memory.
        let object = fl_allocate_object(metadata, byteCount).unsafelyUnwrapped
        (object + coreOffset).assumingMemoryBound(to: ModelCore.self).initialize(
            to: ModelCore(faultOf: number, home: home, row: row))
        return object
    }

    /// Makes an object around a state, with one reference, which is the caller's.
    static func make(_ metadata: UnsafeRawPointer, _ state: consuming ModelCore) -> UnsafeMutableRawPointer {
        // Safe because the runtime ends the process where there is no memory.
        let object = fl_allocate_object(metadata, byteCount).unsafelyUnwrapped
        (object + coreOffset).assumingMemoryBound(to: ModelCore.self).initialize(to: state)
        return object
    }
}
