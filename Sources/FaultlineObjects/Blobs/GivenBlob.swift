internal import FaultlineDisk
internal import FaultlineLog
internal import FaultlineStore
internal import Synchronization

/// A large value that an object was given as a `Blob`, until a save places it, or copies it chunk by chunk.
///
/// The object's unsaved values refer to it by a number that no stored value has.
final class GivenBlob: BlobSource {
    private enum Origin: Sendable {
        case held(HeldBlob, ReadTally?)
        case upload(FinishedUpload)
    }

    private struct Weak: Sendable { weak var blob: GivenBlob? }

    /// A value that an object of a migration stage's context has.
    struct Owned: Sendable {
        let number: UInt64
        fileprivate weak var log: Log?

        /// - Parameters:
        ///   - number: The value.
        ///   - log: The log that it is in.
        init(_ number: UInt64, in log: Log) {
            self.number = number
            self.log = log
        }
    }

    /// The values that unsaved objects refer to, by number.
    private static let all = Guarded<[UInt64: Weak]>([:])
    private static let lastNumber = Atomic<UInt64>(firstNumber)
    /// Stored values have smaller numbers.
    private static let firstNumber: UInt64 = 1 << 63

    let number: UInt64
    private let origin: Origin
    private let owned: Owned?

    /// - Parameters:
    ///   - held: A stored value.
    ///   - tally: Counts its reads.
    ///   - owned: The same, if a save may move it; nil if each save copies it.
    convenience init(_ held: HeldBlob, _ tally: ReadTally? = nil, owned: Owned? = nil) {
        self.init(.held(held, tally), owned)
    }

    convenience init(_ upload: FinishedUpload) { self.init(.upload(upload), nil) }

    private init(_ origin: Origin, _ owned: Owned?) {
        self.origin = origin
        self.owned = owned
        number = Self.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
        let (number, weakly) = (number, Weak(blob: self))
        Self.all.withLock { $0[number] = weakly }
    }

    deinit {
        let number = number
        _ = Self.all.withLock { $0.removeValue(forKey: number) }
    }

    /// The value that unsaved values refer to by a number; nil if the number is that of a stored value.
    static func find(_ number: UInt64) -> GivenBlob? {
        number > firstNumber ? all.withLock { $0[number]?.blob } : nil
    }

    private var held: HeldBlob {
        switch origin {
        case .held(let held, _): held
        case .upload(let upload): upload.held
        }
    }

    var byteCount: UInt64 { held.byteCount }

    /// The number of the stored value that a save in a stage may move to another object; nil if it must be copied.
    func movableNumber(in log: Log) -> UInt64? {
        guard let owned, owned.log === log else { return nil }
        return owned.number
    }

    /// Makes it a value of an object that the transaction writes.
    ///
    /// - Returns: The stored value's number.
    func place(in transaction: inout Transaction, owner: BlobOwner) throws(LogError) -> UInt64 {
        switch origin {
        case .held(let held, _): try transaction.copyBlob(held, owner: owner)
        case .upload(let upload): try transaction.putBlob(upload, owner: owner)
        }
    }

    // MARK: Reading

    func willHold(_ byteCount: Int) {}

    func blob(_ reference: BlobReference) -> Blob {
        switch origin {
        case .held(let held, let tally): Blob(place: .stored(held, tally))
        case .upload(let upload): Blob(place: .uploaded(upload))
        }
    }

    func readBlob(
        _ reference: BlobReference, _ other: HeldBlob?, range: Range<UInt64>, into target: UnsafeMutableRawBufferPointer
    ) throws(LogError) {
        try held.read(range, into: target)
        if case .held(_, let tally) = origin { tally?.addBlobBytes(target.count) }
    }

    func readBlob(
        _ reference: BlobReference, _ other: HeldBlob?, into target: UnsafeMutableRawBufferPointer,
        of number: RecordID, _ entity: EntityStorage?, _ slot: Int
    ) throws(LogError) {
        try readBlob(reference, other, range: 0..<byteCount, into: target)
    }
}
