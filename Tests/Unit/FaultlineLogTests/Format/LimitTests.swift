import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Testing

/// Values that exceed a limit of the format are refused with the limit's name.
struct LimitTests {
    private func file(_ number: UInt64) -> ManifestEdit {
        .fileAdded(AddedFile(number: number, kind: .hotSegment, generation: 0, salt: 0, begun: 0))
    }

    @Test func refusesSegmentsThatLocationsCannotName() throws {
        var options = Store.options
        options.segmentByteCount = Limits.segmentByteCountMax + 1
        #expect(Store().openingCode(options) == .tooLarge)
        options.segmentByteCount = Limits.segmentByteCountMax
        #expect(Store().openingCode(options) == nil)
        // A location can address the last record that may begin before the limit, and its frame.
        let last = Limits.segmentByteCountMax - 8 + FrameHeader.byteCount + Limits.frameBodyByteCountMax
        #expect(last < Limits.locatableByteCountMax)
    }

    @Test func listsNoTwoFilesThatLocationsCannotTellApart() {
        var state = ManifestState()
        func applies(_ edit: ManifestEdit) -> Bool { state.apply(edit) }
        #expect(applies(file(7)) == true)
        #expect(applies(file(8 + (1 << 32))) == true)
        #expect(applies(file(7 + (1 << 32))) == false)
        #expect(applies(file(.max)) == false)
        #expect(applies(.fileDropped(number: 7)) == true)
        #expect(applies(file(7 + (1 << 32))) == true)
    }

    @Test func givesNoNumberThatSaysNoObject() throws {
        let disk = SimulatedDisk(directories: ["/d"])
        let directory = StoreDirectory(
            disk: disk, path: "/d", storeID: StoreID(high: 1, low: 2), nextNumber: 1 << 32,
            random: RandomSource(seed: 1))
        _ = try Manifest(
            ManifestState(), in: directory, rotation: Manifest.Rotation(LogOptions()), replacing: nil)
        #expect(try disk.names(in: "/d") == ["m-0000000100000001.flm"])
        let full = StoreDirectory(
            disk: disk, path: "/d", storeID: StoreID(high: 1, low: 2), nextNumber: .max, random: RandomSource(seed: 1))
        let error = #expect(throws: LogError.self) {
            _ = try Manifest(ManifestState(), in: full, rotation: Manifest.Rotation(LogOptions()), replacing: nil)
        }
        #expect(error?.code == .tooLarge)
    }
}
