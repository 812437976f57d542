import FaultlineDisk
import FaultlineLog
import Testing

/// The kept states that a manifest accepts and refuses: `docs/FileFormat.md` section 8.1.
struct KeptStateEditTests {
    private typealias Field = (offset: Int, value: UInt64)

    /// The bytes of edit 16, with some of its numbers changed.
    private func payload(_ changes: [Field] = []) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 112)
        let numbers: [Field] = [
            (0, 9), (8, 8), (16, 7), (24, 70), (32, 6), (40, 2), (48, 128), (56, 77), (64, 3), (72, 64), (88, 4),
            (96, 64),
        ]
        for (offset, value) in numbers + changes {
            withUnsafeBytes(of: value.littleEndian) { bytes.replaceSubrange(offset..<offset + 8, with: $0) }
        }
        return bytes
    }

    private func edit(_ bytes: [UInt8], kind: UInt16 = 16) throws(FormatFault) -> ManifestEdit {
        try bytes.withUnsafeBytes { bytes in
            Result { () throws(FormatFault) in try ManifestEdit(kind: kind, payload: bytes) }
        }.get()
    }

    /// A manifest with a hot, a blob and a cold segment, the first synchronized up to 128, and a later hot one.
    private func state() -> ManifestState {
        var state = ManifestState()
        let kinds: [(UInt64, FileKind)] = [
            (2, .hotSegment), (3, .blobSegment), (4, .coldSegment), (7, .hotSegment), (8, .tableCheckpoint),
        ]
        for (number, kind) in kinds {
            _ = state.apply(
                .fileAdded(AddedFile(number: number, kind: kind, generation: 0, salt: number, begun: 0)))
        }
        _ = state.apply(.durable(file: 2, offset: 128, head: 77))
        return state
    }

    @Test func `is read where the document says, and outlives a fresh manifest`() throws {
        var state = state()
        let edit = try edit(payload())
        let applies = state.apply(edit)
        #expect(applies)
        #expect(state.kept?.sequence == 9 && state.kept?.sinceNanoseconds == 7 && state.kept?.untilNanoseconds == 70)
        var again = ManifestState()
        for edit in state.edits {
            let applies = again.apply(edit, isSnapshot: true)
            #expect(applies)
        }
        #expect(again.kept == state.kept)
        let releases = again.apply(try self.edit([], kind: 17))
        #expect(releases)
        #expect(again.kept == nil)
    }

    @Test(arguments: [0, 32, 40, 48, 64, 72, 88, 96]) func `numbers beyond their limits are refused`(offset: Int) {
        #expect(throws: FormatFault.self) { try edit(payload([(offset, .max)])) }
    }

    @Test(arguments: [60, 84, 108]) func `reserved bytes are of a newer format`(offset: Int) {
        var bytes = payload()
        bytes[offset] = 1
        let error = #expect(throws: FormatFault.self) { try edit(bytes) }
        if case .newerFormat = error { return }
        Issue.record("\(String(describing: error))")
    }

    @Test(arguments: [0, 104, 111, 113, 120]) func `another size is refused`(count: Int) {
        #expect(throws: FormatFault.self) { try edit([UInt8](repeating: 0, count: count)) }
        #expect(throws: FormatFault.self) { try edit([0], kind: 17) }
    }

    /// A missing segment, one of another kind, one not of the state, or a shorter one; ends without a segment; no log.
    @Test(arguments: [
        [(40, UInt64(5))], [(40, 3)], [(40, 7)], [(48, 136)], [(48, 56)], [(40, 0)], [(40, 0), (48, 0), (56, 0)],
        [(64, 2)], [(64, 0)], [(72, 72)], [(88, 3)], [(88, 0)], [(96, 72)], [(32, 2)], [(32, 4)],
    ])
    func `places that the files contradict are refused`(changes: [(Int, UInt64)]) throws {
        var state = state()
        let applies = state.apply(try edit(payload(changes.map { ($0.0, $0.1) })))
        #expect(!applies)
    }

    @Test func `its segments cannot be dropped while it is kept, all others can`() throws {
        var state = state()
        func applies(_ edit: ManifestEdit) -> Bool { state.apply(edit) }
        #expect(applies(try edit(payload())) == true)
        for number in [2, 3, 4] as [UInt64] { #expect(applies(.fileDropped(number: number)) == false) }
        for number in [7, 8] as [UInt64] { #expect(applies(.fileDropped(number: number)) == true) }
        #expect(applies(.stateReleased) == true)
        #expect(applies(.fileDropped(number: 3)) == true)
    }
}
