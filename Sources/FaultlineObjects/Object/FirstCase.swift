/// The first case of an enum that does not list its cases: a placeholder for an unreadable value.
enum FirstCase {
    /// The kind of an enum in its type's metadata, by the stable ABI of Swift.
    private static let enumKind: UInt = 0x201

    /// Nil for a type that is no enum, and for one whose cases carry values with a lifetime.
    static func of<V>(_ type: V.Type) -> V? {
        // Safe because a type's metadata begins with its kind.
        let kind = unsafeBitCast(type as any Any.Type, to: UnsafePointer<UInt>.self).pointee
        guard kind == enumKind, _isPOD(type) else { return nil }
        return withUnsafeTemporaryAllocation(
            byteCount: max(MemoryLayout<V>.size, 1), alignment: MemoryLayout<V>.alignment
        ) { memory in
            // Safe because a trivial enum of zeros is its first case, with a payload of zeros if that case has one.
            memory.initializeMemory(as: UInt8.self, repeating: 0)
            return memory.baseAddress?.load(as: V.self)
        }
    }
}
