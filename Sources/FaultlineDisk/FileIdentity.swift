/// What makes two paths the same file: the device and the inode on it.
///
/// It holds while the file exists; after the last entry and the last handle are gone the number may be given out again.
public struct FileIdentity: Hashable, Sendable {
    /// The device's number.
    package let device: UInt64
    /// The file's number on the device.
    package let inode: UInt64

    package init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }
}
