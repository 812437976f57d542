import FaultlineTestSupport
import Foundation
import FuzzSimulation
import Testing

/// The seeds and the findings of `make fuzz`, and a sample of damaged bytes.
struct FuzzTests {
    private static var fixtures: URL {
        URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../Fixtures/fuzz")
            .standardizedFileURL
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

    /// In a separate process: a trap ends only that, and its memory is that of the inputs.
    @Test(
        "A3, A4: 10,000 random and mutated inputs are taken or refused in order, and none takes more than 1 MiB at once",
        arguments: FuzzTarget.untrusted)
    func untrustedInputs(target: FuzzTarget) async {
        await #expect(processExitsWith: .success) { [name = target.rawValue as String] in
            let target = try #require(FuzzTarget(rawValue: name))
            let trial = FuzzTrial(target, repairsChecksums: false)
            let seeds = try trial.seeds()
            let mutation = InputMutation(seeds)
            var random = Seed.list(1)[0]
            func run(_ count: Int) throws {
                for _ in 0..<count {
                    let bytes = mutation.input(&random)
                    do { try trial.run(bytes) } catch {
                        print("\(target): \(error) by \(String(decoding: bytes, as: UTF8.self))")
                        throw error
                    }
                }
            }
            PeakMemory.mapAllocations(from: 1 << 20)
            // A store reserves the addresses of its pages of records once, after 64 records were read.
            for bytes in seeds { for _ in 0..<100 { try trial.run(bytes) } }
            try run(500)
            let growth = try #require(try PeakMemory.mappedGrowth { try run(10_000) })
            #expect(growth.byteCount <= 1 << 20 || !PeakMemory.isExact, "\(target): \(growth.byteCount) bytes")
        }
    }

    /// Tests the repair: a store whose files were written by the log needs none.
    @Test(arguments: FuzzTarget.allCases.filter(\.hasChecksums))
    func repairChangesNothingThatIsWhole(target: FuzzTarget) throws {
        for seed in try FuzzTrial(target, repairsChecksums: true).seeds() {
            #expect(FuzzTrial.changesNothing(repairing: seed, as: target))
        }
    }
}
