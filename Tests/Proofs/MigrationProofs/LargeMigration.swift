import Faultline
import FaultlineDisk
import FaultlineLog
import FaultlineMigration
import FaultlineTestSupport
import Foundation

/// A store with one fifth rows and four fifths values outside of the rows, which a separate process migrates.
struct LargeMigration {
    /// The kinds of its stage.
    enum Kind: String, CaseIterable {
        case streamed, policy
        /// A canary: a streamed stage whose closure keeps everything that it reads.
        case keeping

        static let proven: [Kind] = [.streamed, .policy]

        var plan: any SchemaMigrationPlan.Type {
            switch self {
            case .streamed: LargeStreamedPlan.self
            case .policy: LargePolicyPlan.self
            case .keeping: LargeKeepingPlan.self
            }
        }
    }

    static let notesByteCount = 1_000
    static let photoByteCount = 64 << 10
    /// The number of persons for each photo.
    static let personsPerPhoto = 16

    /// Returns the number of persons in a store of the given size.
    static func personCount(mebibytes: Int) -> Int {
        (mebibytes << 20) / ((personsPerPhoto << 10) + photoByteCount) * personsPerPhoto
    }

    let directory: String
    let personCount: Int

    func prepare() throws {
        let container = try ModelContainer(
            for: Large1.models, directory: directory, on: PosixDisk(), options: LogOptions())
        let context = ModelContext(container)
        let notes = String(repeating: "n", count: Self.notesByteCount)
        for number in 0..<personCount {
            let person = Large1.Person(number: number, name: "First\(number) Last\(number)", notes: notes)
            if number % Self.personsPerPhoto == 0 { person.photo = Self.photo(number) }
            context.insert(person)
            if number % 1_024 == 1_023 { try context.save() }
        }
        try context.save()
        try container.close()
    }

    /// Returns incompressible bytes that identify the person.
    private static func photo(_ number: Int) -> Data {
        var random = Seed(UInt64(number))
        var data = Data(count: photoByteCount)
        data.withUnsafeMutableBytes { bytes in
            for offset in stride(from: 0, to: bytes.count, by: 8) {
                bytes.storeBytes(of: random.next(), toByteOffset: offset, as: UInt64.self)
            }
        }
        return data
    }

    struct Outcome {
        /// The increase of the peak of resident memory.
        let peakByteCount: Int
        let blobByteCountRead: Int
        let seconds: Double
        /// Whether every object and every byte was migrated.
        let isRight: Bool
    }

    /// Migrates the store, and checks every object and every byte.
    ///
    /// - Parameters:
    ///   - kind: The kind of the stage.
    ///   - ceiling: The memory ceiling in bytes.
    /// - Returns: The costs, and whether all data was migrated.
    /// - Throws: Errors of the container, and `PeakMemory.Unmeasured`.
    func migrate(_ kind: Kind, ceiling: Int) throws -> Outcome {
        let rise = try PeakMemory.Rise()
        let start = ContinuousClock.now
        let container = try ModelContainer(
            for: Large2.models, migrationPlan: kind.plan, directory: directory, on: PosixDisk(), options: LogOptions(),
            migration: MigrationOptions(memoryCeiling: ceiling))
        let duration = ContinuousClock.now - start
        let peak = try rise.byteCount()
        let outcome = Outcome(
            peakByteCount: peak, blobByteCountRead: container.migrationReport.blobBytesRead,
            seconds: duration / .seconds(1), isRight: try isRight(ModelContext(container)))
        try container.close()
        return outcome
    }

    private func isRight(_ context: ModelContext) throws -> Bool {
        var seen = [Bool](repeating: false, count: personCount)
        var isRight = true
        try context.enumerate(FetchDescriptor<Large2.Person>()) { person in
            let number = person.number
            let photo = number % Self.personsPerPhoto == 0 ? Self.photo(number) : nil
            guard seen.indices.contains(number), !seen[number], person.firstName == "First\(number)",
                person.lastName == "Last\(number)", person.notes.utf8.count == Self.notesByteCount,
                person.photo?.bytes == photo
            else { return isRight = false }
            seen[number] = true
        }
        return isRight && !seen.contains(false)
    }
}
