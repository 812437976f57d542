/// A kind of file system.
///
/// The engine treats some kinds differently.
public struct FileSystemKind: Hashable, Sendable {
    /// The kernel's number for the kind (`statfs`, `f_type`).
    package let magic: UInt64

    package init(magic: UInt64) {
        self.magic = magic
    }

    package static let ext4 = FileSystemKind(magic: 0xEF53)
    package static let xfs = FileSystemKind(magic: 0x5846_5342)
    package static let btrfs = FileSystemKind(magic: 0x9123_683E)
    package static let zfs = FileSystemKind(magic: 0x2FC1_2FC1)
    package static let bcachefs = FileSystemKind(magic: 0xCA45_1A4E)
    package static let f2fs = FileSystemKind(magic: 0xF2F5_2010)
    package static let tmpfs = FileSystemKind(magic: 0x0102_1994)
    package static let overlay = FileSystemKind(magic: 0x794C_7630)
    package static let nfs = FileSystemKind(magic: 0x6969)
    package static let smb = FileSystemKind(magic: 0x517B)
    package static let smb2 = FileSystemKind(magic: 0xFE53_4D42)
    package static let cifs = FileSystemKind(magic: 0xFF53_4D42)
    package static let fuse = FileSystemKind(magic: 0x6573_5546)
    package static let ceph = FileSystemKind(magic: 0x00C3_6400)
    package static let plan9 = FileSystemKind(magic: 0x0102_1997)

    private static let names: [FileSystemKind: String] = [
        .ext4: "ext4", .xfs: "XFS", .btrfs: "Btrfs", .zfs: "ZFS", .bcachefs: "bcachefs", .f2fs: "F2FS", .tmpfs: "tmpfs",
        .overlay: "overlayfs", .nfs: "NFS", .smb: "SMB", .smb2: "SMB", .cifs: "CIFS", .fuse: "FUSE", .ceph: "Ceph",
        .plan9: "9P",
    ]

    /// The common name, or the number in hexadecimal.
    package var name: String { Self.names[self] ?? "0x" + String(magic, radix: 16) }

    /// Whether locks and synchronization depend on another machine or process, so that a store on it may be lost.
    package var isRemote: Bool {
        switch self {
        case .nfs, .smb, .smb2, .cifs, .fuse, .ceph, .plan9: true
        default: false
        }
    }

    /// Whether a file keeps its identity while no process has it open.
    ///
    /// FAT and the folders of virtual machines number a file anew each time that it is looked up.
    package var keepsIdentities: Bool {
        switch self {
        case .ext4, .xfs, .btrfs, .zfs, .bcachefs, .f2fs, .tmpfs, .overlay: true
        default: false
        }
    }

    /// Whether overwriting allocates new space, so that zeroing a file ahead only writes the bytes twice.
    package var isCopyOnWrite: Bool {
        switch self {
        case .btrfs, .zfs, .bcachefs, .f2fs: true
        default: false
        }
    }

    /// Whether its files are lost when the machine stops.
    package var isVolatile: Bool { self == .tmpfs }
}
