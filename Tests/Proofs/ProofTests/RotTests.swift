import FaultlineTestSupport
import Foundation
import RotSimulation
import Testing

/// Tests a sample of all damages of the reference stores, one at a time.
struct RotTests {
    /// A prime number, so that the sample contains all bit positions of a byte in every file.
    private static let stride = TestSize.of(1_009, unoptimized: 2_003)

    @Test func noFlippedBitReadsWrongOrGoesUnseen() throws {
        for store in try RotStore.all() {
            var detectedCount = 0
            for number in Swift.stride(from: 0, to: store.bitCount, by: Self.stride) {
                switch store.outcome(of: store.flip(number)) {
                case .detected: detectedCount += 1
                case .wrong(let what): Issue.record("\(store.name), \(store.flip(number)): \(what)")
                case .harmless, nil: break
                }
            }
            #expect(detectedCount > 100, "\(store.name)")
        }
    }

    @Test func noSectorReadsWrongOrGoesUnseen() throws {
        for store in try RotStore.all() {
            var detectedCount = 0
            for damage in store.sectorDamages().enumerated().filter({ $0.offset % 23 == 0 }).map(\.element) {
                switch store.outcome(of: damage) {
                case .detected: detectedCount += 1
                case .wrong(let what): Issue.record("\(store.name), \(damage): \(what)")
                case .harmless, nil: break
                }
            }
            #expect(detectedCount > 10, "\(store.name)")
        }
    }

    /// Reads do not use this run's filter, because a memtable has all keys of the run.
    @Test func everyBitOfARunIsSeen() throws {
        let store = try #require(try RotStore.all().first { $0.name == "unclean" })
        for (path, byteCount) in store.files where path.contains("/r-") {
            for bit in 0..<byteCount * 8 {
                #expect(store.outcome(of: .flippedBit(bit, path: path)) == .detected, "\(path), bit \(bit)")
            }
        }
    }

    /// Checks the trials themselves, with deliberate errors.
    @Test func everyBrokenRuleIsCaught() throws {
        let run = try ProofProcess(["bitflips", "--canary"])
        #expect(run.status == 0, "\(run.lines)")
    }

    @Test func theDocumentListsTheBytesThatMeanNothing() throws {
        let document = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../docs/Testing.md")
        let text = try String(contentsOf: document, encoding: .utf8)
        let section = try #require(text.components(separatedBy: "### Harmless bytes").dropFirst().first)
        let rows = section.components(separatedBy: "\n#")[0].split(separator: "\n").filter { $0.hasPrefix("| ") }
        let listed = rows.dropFirst().compactMap { $0.split(separator: "|").first }.map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        #expect(listed == HarmlessBytes.allCases.map(\.rawValue))
    }
}
