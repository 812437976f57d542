/// The use of a copy beside its store: one for each is possible at a time.
package enum StoreCopyPurpose: Sendable {
    case dryRun
    case backup

    /// The end of the copy's name, behind that of the store.
    package var suffix: String {
        switch self {
        case .dryRun: ".dry-run"
        case .backup: ".backup-under-way"
        }
    }

    /// The byte of the store's LOCK that is held while the copy exists: `docs/FileFormat.md` section 1.
    var lockByte: UInt64 {
        switch self {
        case .dryRun: 2
        case .backup: 3
        }
    }

    /// A file without which the directory is not taken for the remains of a copy: then nothing in it is removed.
    ///
    /// A dry run has none: releases before the file left remains.
    var marker: String? {
        switch self {
        case .dryRun: nil
        case .backup: "COPY"
        }
    }

    var noun: String {
        switch self {
        case .dryRun: "dry run"
        case .backup: "backup"
        }
    }
}

/// Why a store cannot be copied beside itself; the store is unchanged.
package enum StoreCopyError: Error, Sendable, Equatable, CustomStringConvertible {
    /// Another copy for the same purpose is in that directory.
    case underWay(String, StoreCopyPurpose)
    /// A file of that name, which belongs to no store, is in the directory.
    case foreignFile(String, String, StoreCopyPurpose)
    /// The copy in that directory was removed by hand.
    case removed(String, StoreCopyPurpose)
    /// The disk has too little room, in bytes.
    case noRoom(String, needed: UInt64, free: UInt64, forFilesInUse: Bool)

    package var description: String {
        switch self {
        case .underWay(let directory, let purpose):
            "Another \(purpose.noun) of this store is under way, in \(directory). Wait until it has ended."
        case .foreignFile(let name, let directory, let purpose):
            "A \(purpose.noun) needs the directory \(directory), which holds files of no store, such as \(name). Remove them."
        case .removed(let directory, let purpose):
            "The copy of the store in \(directory) was removed before it was used. The store is unchanged. Begin the \(purpose.noun) again."
        case .noRoom(let directory, let needed, let free, let forFilesInUse):
            "The copy of the store in \(directory) needs about \(needed) bytes of disk, \(forFilesInUse ? "for the files in use" : "because its files cannot be linked there"); \(free) are free. The store is unchanged. Make room, or leave the check out (checksSpace, --skip-space-check)."
        }
    }
}
