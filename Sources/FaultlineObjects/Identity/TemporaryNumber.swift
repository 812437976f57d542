internal import Synchronization

/// Numbers of objects that were never saved: unique in the process.
enum TemporaryNumber {
    /// The greatest number of an object in memory.
    static let max: UInt64 = (1 << 48) - 1

    private static let counter = Atomic<UInt64>(1)

    /// The next number, below 2^47: at a thousand million a second the counter lasts a day and a half, at a million a
    /// second four years.
    static func next() -> UInt64 {
        counter.wrappingAdd(1, ordering: .relaxed).oldValue & (1 << 47 - 1)
    }

    private static let secret = (UInt64.random(in: 0...UInt64.max), UInt64.random(in: 0...UInt64.max))

    /// What shows that this process has encoded a number: a keyed hash, which other processes cannot make.
    static func seal(_ number: UInt64, _ entityName: String) -> String {
        var hasher = Hasher()
        hasher.combine(secret.0)
        hasher.combine(secret.1)
        hasher.combine(number)
        hasher.combine(entityName)
        return String(UInt64(bitPattern: Int64(hasher.finalize())), radix: 16)
    }
}
