internal import FaultlineDisk
internal import FaultlineLog
internal import FaultlineStore
internal import Foundation
internal import Glibc
internal import Synchronization

/// The large values that contexts of migration stages have read last as `Data`: one for each session.
///
/// An attribute that is set to the same bytes gets a reference to the stored value, so that the save can move it, and a
/// second read gets the same `Data`. Bytes are the same if they lie at the same address: `Data` that is kept here is not
/// changed in place, and its memory is not used for another value.
enum ReadValues {
    struct Value: Sendable {
        let data: Data
        let reference: BlobReference
        /// The entity of the object that has it.
        let entityName: String
        /// The context that has read it.
        weak var reader: (any BlobSource)?
        /// The thread that has read it: another one must not use the context.
        let thread: pthread_t
    }

    private static let all = Guarded<[ObjectIdentifier: Value]>([:])
    private static let count = Atomic<Int>(0)

    /// Whether a value may be found: false outside of migrations.
    @inline(__always)
    static var isInUse: Bool { count.load(ordering: .relaxed) > 0 }

    /// Keeps the value that a context of a session has read, instead of the one before.
    static func keep(
        _ data: Data, _ reference: BlobReference, of entityName: String, by reader: any BlobSource,
        in session: ObjectIdentifier
    ) {
        let value = Value(
            data: data, reference: reference, entityName: entityName, reader: reader, thread: pthread_self())
        all.withLock { if $0.updateValue(value, forKey: session) == nil { count.add(1, ordering: .relaxed) } }
    }

    /// Lets go of the value of a session.
    static func forget(_ session: ObjectIdentifier) {
        guard isInUse else { return }
        all.withLock { if $0.removeValue(forKey: session) != nil { count.subtract(1, ordering: .relaxed) } }
    }

    /// The bytes of a value, if its reader has read it last.
    static func data(of reference: BlobReference, by reader: any BlobSource, in session: ObjectIdentifier) -> Data? {
        guard isInUse else { return nil }
        // The reader is compared without the lock: its last reference may go here.
        let value = all.withLock { $0[session] }
        guard let value, value.reference.identifier == reference.identifier, value.reader === reader else { return nil }
        return value.data
    }

    /// The stored value that this thread has read as `data`, and that was not modified; nil for other bytes.
    static func find(_ data: Data) -> Value? {
        let thread = pthread_self()
        return data.withUnsafeBytes { bytes in
            all.withLock { all in
                all.values.first { value in
                    value.thread == thread && value.data.count == bytes.count
                        && value.data.withUnsafeBytes { $0.baseAddress == bytes.baseAddress }
                }
            }
        }
    }
}
