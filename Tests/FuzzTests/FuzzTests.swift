import FaultlineTestSupport
import Foundation
import FuzzSimulation
import Testing

/// What `make fuzz` begins with and what it found, and a sample of bytes that are wrong somewhere.
struct FuzzTests {
    private static var fixtures: URL {
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Fixtures/fuzz")
    }

    /// Each finding, a file named after its target, is read as it is and with its checksums repaired.
    @Test func whatWasFoundIsReadInOrder() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.fixtures.path).sorted()
        #expect(!names.isEmpty)
        for name in names {
            let target = try #require(name.split(separator: "-").first.flatMap { FuzzTarget(rawValue: String($0)) })
            let bytes = [UInt8](try Data(contentsOf: Self.fixtures.appending(path: name)))
            for repairs in [false, true] { try FuzzTrial(target, repairsChecksums: repairs).run(bytes) }
        }
    }

    @Test(arguments: FuzzTarget.allCases, Seed.list(1))
    func wrongBytesAreReadInOrder(target: FuzzTarget, seed: Seed) throws {
        var random = seed
        for repairs in target.hasChecksums ? [false, true] : [false] {
            let trial = FuzzTrial(target, repairsChecksums: repairs)
            for var bytes in try trial.seeds().shuffled(using: &random).prefix(3) {
                try trial.run(bytes)
                for _ in 0..<4 { bytes[random.below(bytes.count)] = UInt8(random.below(256)) }
                if random.oneIn(4) { bytes.removeLast(random.below(bytes.count)) }
                do { try trial.run(bytes) } catch {
                    Issue.record("\(target), repaired \(repairs): \(error); \(seed.replayLine)")
                }
            }
        }
    }

    /// What the repair is worth: a store whose files were written by the log has nothing to repair.
    @Test(arguments: FuzzTarget.allCases.filter(\.hasChecksums))
    func repairChangesNothingThatIsWhole(target: FuzzTarget) throws {
        for seed in try FuzzTrial(target, repairsChecksums: true).seeds() {
            #expect(FuzzTrial.changesNothing(repairing: seed, as: target))
        }
    }
}
