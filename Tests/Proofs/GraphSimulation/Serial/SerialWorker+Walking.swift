internal import Faultline
internal import FaultlineObjects
internal import FaultlineTestSupport
internal import Foundation

// Pages and streams, beside saves of other threads.

extension SerialWorker {
    /// Some pages of a class in the order of keys, each a fetch of its own behind a cursor of bytes.
    func turnPages(_ kind: SerialKind) throws {
        // A page shows no unsaved changes.
        if context.hasChanges { try save() }
        try turnPages(kind, kind.type)
    }

    private func turnPages<T: SerialObject>(_ kind: SerialKind, _ type: T.Type) throws {
        let descriptor = FetchDescriptor<T>(sortBy: [T.byKey])
        var cursor: FetchCursor?
        var last = 0
        for _ in 0...random.below(4) {
            let floor = shared.floor
            let page = try context.fetchPage(descriptor, after: cursor, size: Self.pageSize)
            let keys = page.objects.map(\.key).dropLast(breaks(.pages) ? 1 : 0)
            let digest = keys.reduce(0) { $0 &+ SerialDigest.of(member: $1) }
            try note(.page, floor, kind.rawValue, last, keys.count, digest)
            guard let next = page.cursor, let end = keys.last else { return }
            cursor = FetchCursor("\(next)")
            last = end
        }
    }

    /// All objects of a class as a stream of values, read in batches beside other saves.
    func stream(_ kind: SerialKind) throws {
        let floor = shared.floor
        func stream<T: SerialObject>(_ type: T.Type) -> ValueStream {
            shared.container.stream(FetchDescriptor<T>(), batchSize: 30)
        }
        let reader = StreamReader()
        reader.begin(stream(kind.type))
        defer { reader.end() }
        var copies = try reader.next() ?? []
        let newest = shared.newestSequence
        while let batch = try reader.next() { copies += batch }
        var sum = SerialState.Sum()
        for copy in copies.dropLast(breaks(.streams) ? 1 : 0) {
            let numbers = kind.slotNames.map { copy[$0]?.int ?? -1 }
            sum.add(SerialDigest.of(key: copy["key"]?.int ?? -1, numbers: numbers))
        }
        try note(.stream, floor, newest, kind.rawValue, sum.count, sum.digest)
    }
}
