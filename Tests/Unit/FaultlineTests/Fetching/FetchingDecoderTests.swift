import Faultline
import FaultlineDisk
import FaultlineTestSupport
import Synchronization
import Testing

/// A value whose decoding runs user code in the middle.
struct Nosy: Codable, Equatable {
    var first: String
    var last: String

    /// The code to run on the decoding thread.
    static let hook = Guarded<(@Sendable () -> Void)?>(nil)

    init(_ first: String, _ last: String) {
        self.first = first
        self.last = last
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        first = try container.decode(String.self, forKey: .first)
        Self.hook.withLock { $0 }?()
        last = try container.decode(String.self, forKey: .last)
    }
}

@Model final class Parcel {
    var name: String
    var note: Nosy
    init(name: String, note: Nosy) {
        self.name = name
        self.note = note
    }
}

/// Decoding gets bytes that stay in place, although rows and drafts may be released at the same time.
@Suite(.serialized) struct FetchingDecoderTests {
    // Safe because everything runs on one thread.
    private struct Unchecked<Value>: @unchecked Sendable { let value: Value }

    private let wanted = Nosy(String(repeating: "a", count: 1_200), String(repeating: "z", count: 1_200))

    /// Overwrites memory that was freed.
    private static func spoilFreeMemory() {
        let blocks = (0..<8).map { _ in UnsafeMutableRawBufferPointer.allocate(byteCount: 128 << 10, alignment: 16) }
        for block in blocks { block.initializeMemory(as: UInt8.self, repeating: 0xEE) }
        for block in blocks { block.deallocate() }
    }

    @Test(arguments: [false, true]) func `a value may fetch while it is decoded`(isDraft: Bool) throws {
        let store = try TestStore(Parcel.self)
        let writer = store.context()
        for number in 0..<10 { writer.insert(Parcel(name: "\(number)", note: wanted)) }
        try writer.save()
        let context = store.context()
        let parcel = try context.first(Parcel.self)
        if isDraft { parcel.name = "changed" }
        #expect(parcel.note == wanted)

        let other = try #require(try writer.fetch(FetchDescriptor<Parcel>()).last)
        other.name = "more"
        try writer.save()
        let (held, changed, long) = (Unchecked(value: context), Unchecked(value: parcel), wanted)
        let count = Guarded(0)
        Nosy.hook.withLock {
            $0 = {
                guard
                    count.withLock({
                        $0 += 1; return $0
                    }) == 1
                else { return }
                // The context moves on, and evicts the rows that it has loaded.
                _ = try? held.value.fetch(FetchDescriptor<Parcel>(predicate: #Predicate { $0.name == "more" }))
                if isDraft { changed.value.note = Nosy(long.last + long.last, "") }
                Self.spoilFreeMemory()
            }
        }
        defer { Nosy.hook.withLock { $0 = nil } }
        #expect(parcel.note == wanted && count.withLock { $0 } == 1)
        context.rollback()
    }
}
