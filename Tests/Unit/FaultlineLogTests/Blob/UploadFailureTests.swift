import FaultlineDisk
import FaultlineLog
import FaultlineRepair
import FaultlineTestSupport
import Glibc
import Testing

/// Uploads on a disk that is full or fails, in a log that failed, and beside a kept state.
struct UploadFailureTests {
    private let store = Store()
    private static let owner = BlobOwner(table: plainTable, slot: 3, id: 9)
    private static let bytes = Seed.bytes(200_000, seed: 3)

    private var options: LogOptions {
        var options = Store.options
        options.isCompressingBlobs = false
        return options
    }

    private func upload(to log: Log, times: Int = 1) throws -> FinishedUpload {
        let upload = try log.beginUpload()
        for _ in 0..<times { try Self.bytes.withUnsafeBytes { try upload.append($0) } }
        return try upload.finish()
    }

    private func place(_ upload: FinishedUpload, in log: Log) throws -> RecordID {
        try log.write(author: nil) { try $0.putBlob(upload, owner: Self.owner) }.value
    }

    /// Where the disk ends the upload.
    enum Place: CaseIterable {
        case fullAtBeginning, fullAmid, write, synchronization
    }

    @Test(arguments: Place.allCases) func `an upload that the disk ends harms no other`(_ place: Place) throws {
        let disk = FailingDisk(over: store.disk)
        let log = try store.open(options, on: disk)
        let waiting = place == .fullAtBeginning ? nil : try upload(to: log)
        switch place {
        case .fullAtBeginning:
            disk.arm(DiskFault(of: [.create, .reserve, .write], errorNumber: ENOSPC, isSticky: true))
        case .fullAmid: disk.arm(DiskFault(of: [.reserve], on: "/b-", errorNumber: ENOSPC, isSticky: true))
        case .write: disk.arm(DiskFault(of: [.write], on: "/b-"))
        case .synchronization: disk.arm(DiskFault(of: [.synchronize], on: "/b-"))
        }
        let error = #expect(throws: LogError.self) { _ = try upload(to: log, times: 20) }
        let isFull = place == .fullAtBeginning || place == .fullAmid
        #expect(error?.code == (isFull ? .fullDisk : .failedDisk))
        #expect(error?.path?.contains(place == .fullAtBeginning ? "/" : "/b-") == true)
        disk.disarm()
        #expect(log.failure == nil)
        let next = try self.place(try upload(to: log), in: log)
        var ids = [next]
        if let waiting { ids.append(try self.place(waiting, in: log)) }
        for log in [log, try store.killed.open()] {
            for id in ids { #expect(try log.snapshot().blob(id) == Self.bytes) }
            #expect(try log.findings().isEmpty)
            try log.close()
        }
    }

    @Test func `each call after an error throws that error`() throws {
        let disk = FailingDisk(over: store.disk)
        let log = try store.open(options, on: disk)
        let upload = try log.beginUpload()
        disk.arm(DiskFault(of: [.write], on: "/b-"))
        let large = [UInt8](repeating: 1, count: 3 << 20)
        #expect(throws: LogError.self) { try large.withUnsafeBytes { try upload.append($0) } }
        let error = #expect(throws: LogError.self) { _ = try upload.finish() }
        #expect(error?.code == .failedDisk)
        try log.close()
    }

    @Test func `a commit whose headers are not durable is not acknowledged`() throws {
        let disk = FailingDisk(over: store.disk)
        let log = try store.open(options, on: disk)
        let finished = try upload(to: log)
        disk.arm(DiskFault(of: [.synchronize], on: "/b-"))
        let error = #expect(throws: LogError.self) { _ = try place(finished, in: log) }
        #expect(error?.code == .outcomeUnknown)
        #expect(#expect(throws: LogError.self) { _ = try log.beginUpload() }?.code == .poisoned)
        try log.close()
        let again = try store.open(options)
        #expect(again.snapshot().recordCount(of: .blobs) == 0)
        #expect(try again.findings().isEmpty)
        let id = try place(finished, in: again)
        #expect(try again.snapshot().blob(id) == Self.bytes)
        try again.close()
    }

    @Test func `a transaction whose headers cannot be written is given up, and can be repeated`() throws {
        let disk = FailingDisk(over: store.disk)
        let log = try store.open(options, on: disk)
        let finished = try upload(to: log)
        disk.arm(DiskFault(of: [.write], on: "/b-"))
        let error = #expect(throws: LogError.self) { _ = try place(finished, in: log) }
        #expect(error?.code == .failedDisk && log.failure == nil)
        try log.checkInvariants()
        let id = try place(finished, in: log)
        #expect(try log.snapshot().blob(id) == Self.bytes)
        #expect(try log.findings().isEmpty)
        try log.close()
    }

    @Test func `a kept state keeps the uploads that it has, and loses later ones`() throws {
        var log = try store.open(options)
        let first = try place(try upload(to: log), in: log)
        let waiting = try upload(to: log)
        try log.keepState(for: 1_000)
        let kept = try #require(try log.keptState()).sequence
        let second = try place(waiting, in: log)
        let third = try place(try upload(to: log), in: log)
        #expect(log.snapshot().recordCount(of: .blobs) == 3)
        try log.returnToKeptState()
        log = try store.open(options)
        #expect(log.snapshot().sequence == kept)
        #expect(log.snapshot().recordCount(of: .blobs) == 1)
        #expect(try log.snapshot().blob(first) == Self.bytes)
        #expect(try log.findings().isEmpty)
        let fourth = try place(try upload(to: log), in: log)
        #expect([second, third].contains(fourth))
        for log in [log, try store.killed.open()] {
            for id in [first, fourth] { #expect(try log.snapshot().blob(id) == Self.bytes) }
            #expect(try log.findings().isEmpty)
            try log.close()
        }
    }
}
