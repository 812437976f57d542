import FaultlineDisk
import FaultlineLog

/// The facts that a damaged store's manifests still have: every whole group of edits that verifies, of any of them.
///
/// No later edit revokes such a fact (that a segment was dropped, its salt, identifiers in use). So neither the order
/// of the manifests nor a gap between two groups matters. The one exception is the end of a sealed segment, which
/// restoring a kept state moves back: the newest edit counts.
struct ManifestFacts {
    /// The files that the newest manifest lists, as far as it can be read.
    private(set) var files: [UInt64: AddedFile] = [:]
    /// Every file that any manifest mentions.
    private(set) var known: [UInt64: AddedFile] = [:]
    /// The ends of sealed files.
    private(set) var ends: [UInt64: UInt64] = [:]
    /// The newest transaction of sealed files.
    private(set) var lastSequences: [UInt64: UInt64] = [:]
    /// The ends of the synchronized bytes of files.
    private(set) var durable: [UInt64: UInt64] = [:]
    private(set) var dropped: Set<UInt64> = []
    /// The next identifiers, by table.
    private(set) var nextIDs: [UInt16: RecordID] = [:]
    /// The newest transaction that was visible, or durable, when a manifest's frame was written.
    private(set) var newestSequence: UInt64 = 0

    /// Adds the facts of a manifest; older ones come first.
    mutating func read(_ managed: ManagedFile) throws(LogError) {
        let length = try onDisk("reading a manifest") { () throws(DiskError) in try managed.file.byteCount() }
        var scanner = LenientScanner(managed, from: UInt64(FileHeader.byteCount), limit: length)
        var group: [ManifestEdit] = []
        var part: UInt32 = 0
        while let piece = try scanner.next() {
            guard case .frame(let frame) = piece, frame.header.kind == .edit, frame.header.part == part,
                append(frame, to: &group)
            else {
                // Edits take effect together or not at all.
                group.removeAll()
                part = 0
                continue
            }
            if LogWitness.isInRange(frame.header) { newestSequence = max(newestSequence, frame.header.sequence) }
            part += 1
            if frame.header.isContinued { continue }
            for edit in group { take(edit) }
            group.removeAll()
            part = 0
        }
    }

    /// Appends the edits of a frame, unless one of them does not verify or is not known.
    private func append(_ frame: LenientFrame, to group: inout [ManifestEdit]) -> Bool {
        guard frame.areHeadersProven, let start = frame.body.baseAddress else { return false }
        var edits: [ManifestEdit] = []
        var isWhole = true
        frame.forEachStep { step in
            guard case .record(let place, let header, true) = step else {
                isWhole = false
                return
            }
            let payload = UnsafeRawBufferPointer(
                start: start + place + RecordHeader.byteCount, count: header.storedByteCount)
            do throws(FormatFault) {
                edits.append(try ManifestEdit(kind: header.layout, payload: payload))
            } catch {
                isWhole = false
            }
        }
        if isWhole { group += edits }
        return isWhole
    }

    private mutating func take(_ edit: ManifestEdit) {
        switch edit {
        case .manifest: files.removeAll()
        case .fileAdded(let file):
            files[file.number] = file
            known[file.number] = file
            if file.kind == .hotSegment { newestSequence = max(newestSequence, file.begun) }
        case .fileSealed(let seal):
            ends[seal.number] = seal.end
            lastSequences[seal.number] = seal.lastSequence
            durable[seal.number] = max(durable[seal.number] ?? 0, seal.end)
        case .fileDropped(let number):
            files[number] = nil
            dropped.insert(number)
        case .durable(let file, let offset, _): durable[file] = max(durable[file] ?? 0, offset)
        case .checkpoint(let position): newestSequence = max(newestSequence, position.sequence)
        case .identifiers(let table, let next): nextIDs[table] = max(nextIDs[table] ?? 0, next)
        default: break
        }
    }
}
