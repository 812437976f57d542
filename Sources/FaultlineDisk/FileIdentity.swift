/// The device and inode of a file.
///
/// Two paths with the same identity are the same file.
///
/// It is valid while the file exists. After the last entry and the last handle are gone, the system may reuse
/// the number.
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
