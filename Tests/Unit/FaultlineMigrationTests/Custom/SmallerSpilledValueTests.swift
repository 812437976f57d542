import Faultline
import FaultlineMigration
import FaultlineObjects
import FaultlineTestSupport
import Foundation
import Testing

/// Values of 4 to 16 KiB that the closures of a custom stage set are written to the store before the save, once the
/// unsaved objects hold their share of the ceiling.
struct SmallerSpilledValueTests {
    typealias V1 = SpilledValueTests.V1
    typealias V2 = SpilledValueTests.V2
    typealias Plan = SpilledValueTests.Plan
    typealias Closure = SpilledValueTests.Closure

    private static let byteCount = 8_000
    /// The least ceiling, whose share is 1 MiB.
    private static let ceiling = MigrationOptions(memoryCeiling: 16 << 20)

    private static func bytes(_ number: Int) -> Data {
        var random = Seed(UInt64(number) + 1)
        return Data(random.bytes(byteCount))
    }

    private static func text(_ number: Int) -> String { String(repeating: "Ünïcode \(number), ", count: 400) }

    private static func fill(_ stores: Stores, count: Int) throws {
        try stores.use(V1.self) { _, context in
            for number in 0..<count { context.insert(V1.Photo(number: number, data: nil)) }
            try context.save()
        }
    }

    private static func photos(_ context: ModelContext) throws -> [V2.Photo] {
        try context.fetch(FetchDescriptor<V2.Photo>(sortBy: [SortDescriptor(\.number)]))
    }

    @Test(
        "B1: a custom stage that sets values of 8 KB stays within its ceiling and 16 MiB",
        .enabled(if: PeakMemory.isExact))
    func staysWithinItsCeiling() async {
        await #expect(processExitsWith: .success) {
            let stores = Stores(isOnDisk: true)
            // 80 MB of values in changed and in new objects.
            let count = 5_000
            try Self.fill(stores, count: count)
            let closure = Closure { context in
                for photo in try Self.photos(context) {
                    photo.data = Self.bytes(photo.number)
                    context.insert(V2.Pixels(bytes: Self.bytes(photo.number + 1)))
                }
                try context.save()
            }
            #expect(PeakMemory.reset())
            let before = try #require(PeakMemory.residentByteCount)
            try Closure.$current.withValue(closure) {
                try stores.use(V2.self, Plan.self, migration: Self.ceiling) { _, _ in }
            }
            let growth = try #require(PeakMemory.peakByteCount) - before
            #expect(growth <= 32 << 20, "\(growth) bytes above the base line")
            try stores.use(V2.self) { _, context in
                for photo in try Self.photos(context) { #expect(photo.data == Self.bytes(photo.number)) }
                let pixels = try context.fetch(FetchDescriptor<V2.Pixels>())
                #expect(pixels.count == count)
            }
            #expect(try stores.findings(V2.self) == [])
        }
    }

    @Test func `values beyond the share are written before the save, and read, replaced and given up`() throws {
        let stores = Stores()
        try Self.fill(stores, count: 300)
        let closure = Closure { context in
            let photos = try Self.photos(context)
            for round in 0..<2 {
                var made: [V2.Pixels] = []
                for number in 0..<300 {
                    let pixels = V2.Pixels(bytes: Self.bytes(number))
                    made.append(pixels)
                    context.insert(pixels)
                    context.insert(V2.Note(title: "\(round) \(number)", text: Self.text(number)))
                }
                // The share, in blocks with room to grow, and 600 references.
                #expect(StageContext(context.core).unsavedByteCount < 2_000_000)
                for (number, pixels) in made.enumerated() { #expect(pixels.bytes == Self.bytes(number)) }
                for number in 250..<300 {
                    // Replaced by a small value, by another one, and deleted.
                    made[number].bytes = number < 270 ? Data([7]) : Self.bytes(number + 1)
                    if number >= 290 { context.delete(made[number]) }
                }
                let text = Self.text(299)
                let found = FetchDescriptor<V2.Note>(predicate: #Predicate { $0.text == text })
                #expect(try context.fetchCount(found) == round + 1)
                try context.save()
                #expect(StageContext(context.core).unsavedByteCount == 0)
            }
            for photo in photos { photo.data = Self.bytes(photo.number) }
            context.rollback()
            #expect(photos.allSatisfy { $0.data == nil })
            for photo in photos { photo.data = Self.bytes(photo.number) }
            try context.save()
        }
        try Closure.$current.withValue(closure) {
            try stores.use(V2.self, Plan.self, migration: Self.ceiling) { container, context in
                #expect(container.migrationReport.blobBytesWritten > 300 * Self.byteCount)
                for photo in try Self.photos(context) { #expect(photo.data == Self.bytes(photo.number)) }
                let pixels = try context.fetch(FetchDescriptor<V2.Pixels>())
                #expect(pixels.count == 2 * 290)
                #expect(pixels.count { $0.bytes == Data([7]) } == 2 * 20)
                let text = Self.text(280)
                let found = FetchDescriptor<V2.Note>(predicate: #Predicate { $0.text == text })
                #expect(try context.fetch(found).map(\.text) == [text, text])
                let part = "code 280"
                let parts = FetchDescriptor<V2.Note>(predicate: #Predicate { $0.text.contains(part) })
                #expect(try context.fetchCount(parts) == 2)
            }
        }
        #expect(try stores.findings(V2.self) == [])
    }
}
