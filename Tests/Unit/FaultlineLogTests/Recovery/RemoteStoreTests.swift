import FaultlineDisk
import FaultlineLog
import FaultlineTestSupport
import Testing

/// Stores on file systems of another machine or process: readable, but not writable unless allowed.
struct RemoteStoreTests {
    private static let remote: [FileSystemKind] = [.nfs, .smb, .smb2, .cifs, .fuse, .ceph, .plan9]

    @Test(arguments: remote) func isNotMadeThere(kind: FileSystemKind) throws {
        let store = Store()
        store.disk.pretendToBe(kind)
        let error = #expect(throws: LogError.self) { try store.open() }
        #expect(error?.code == .readOnly && error?.path == Store.path)
        #expect(error?.message.contains(kind.name) == true)
        // Nothing was created: no lock, no directory.
        #expect(store.disk.operationCount == 0)
    }

    @Test func isReadThereAndNotWrittenTo() throws {
        let store = Store()
        let log = try store.open()
        let ids = try log.insert([row(1), row(2)])
        try log.close()
        store.disk.pretendToBe(.nfs)
        let before = store.disk.operationCount
        #expect(store.openingCode() == .readOnly)
        #expect(store.disk.operationCount == before)

        var options = Store.options
        options.access = .reading
        let reader = try store.open(options)
        #expect(try reader.snapshot().row(ids[1]) == row(2))
        reader.abandonForTests()

        options.access = .writing
        options.allowsRemoteFileSystem = true
        let writer = try store.open(options)
        try writer.insert([row(3)])
        try writer.close()
    }

    /// And on unknown ones.
    @Test(arguments: [FileSystemKind.ext4, .xfs, .btrfs, .tmpfs, .overlay, FileSystemKind(magic: 0x1234)])
    func isMadeOnLocalOnes(kind: FileSystemKind) throws {
        let store = Store()
        store.disk.pretendToBe(kind)
        try store.open().close()
    }
}
