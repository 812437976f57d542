import FaultlineDisk
import FaultlineLog
import FaultlineRepair
import FaultlineTestSupport
import Testing

/// Disks that fail while a store is salvaged.
extension SalvageTests {
    @Test func saysWhatTheDiskSaysWhereNoSegmentCanBeOpened() throws {
        let store = try filledStore()
        let failing = FailingDisk(over: store.disk)
        failing.arm(DiskFault(of: [.open], on: ".fls", isSticky: true))
        let error = #expect(throws: LogError.self) { _ = try SalvagedStore(store, on: failing) }
        #expect(failing.hitCount > 0)
        #expect(error?.code == .failedDisk && error?.path?.hasSuffix(".fls") == true, "\(String(describing: error))")
    }

    @Test func readsAroundPlacesThatTheDiskCannotRead() throws {
        let store = try filledStore()
        let path = try #require(store.files(.hotSegment).first)
        let failing = FailingDisk(over: store.disk)
        failing.arm(
            DiskFault(isSticky: true) { operation in
                guard operation.kind == .read, operation.path == path, let offset = operation.offset else {
                    return false
                }
                return offset < 8_192 && offset + UInt64(operation.byteCount ?? 0) > 4_096
            })
        let salvaged = try SalvagedStore(store, on: failing)
        #expect(failing.hitCount > 1)
        #expect(salvaged.report.hasLoss)
        let records = LogBytes(try store.disk.contents(path)).records
        let touched = records.filter { $0.offset < 8_192 && $0.offset + $0.byteCount > 4_096 }
        let new = try salvaged.open()
        for record in records where record.table == 16 && !touched.contains(where: { $0.sequence == record.sequence }) {
            #expect(try new.snapshot().row(record.id) != nil || record.id == 7)
        }
        #expect(new.snapshot().recordCount(of: testTable) < 239)
        try new.close()
    }
}
