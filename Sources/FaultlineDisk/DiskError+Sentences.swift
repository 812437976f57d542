// All sentences of this layer. Each describes a problem and its remedy.

extension DiskError {
    /// The problem, its location and the remedy.
    package var message: String {
        var place = path
        if let offset { place += " at byte \(offset)" }
        return "\(place): \(code.whatHappened) (\(call)). \(remedy)"
    }

    /// A full sentence, or more.
    package var remedy: String { openFiles?.remedy ?? code.whatToDo }

    /// The system call and its error number.
    package var call: String { errorNumber == 0 ? systemCall.rawValue : "\(systemCall.rawValue), errno \(errorNumber)" }

    /// The problem without its location and remedy.
    package var fact: String { "\(code.whatHappened): \(call)" }

    /// `message`.
    public var description: String { message }
}

extension DiskError.Code {
    /// The second half of a sentence that begins with the path.
    package var whatHappened: String {
        switch self {
        case .notFound: "does not exist"
        case .gone: "was removed or replaced after it was opened, while the process had closed it for a time"
        case .exists: "exists already"
        case .isDirectory: "is a directory, not a file"
        case .notDirectory: "is not a directory, or one of its parents is not"
        case .notEmpty: "is a directory that is not empty"
        case .notRegularFile: "is a pipe, socket or device, not a file"
        case .permissionDenied: "may not be used by this process"
        case .readOnlyFileSystem: "lies on a file system that is mounted read-only"
        case .noSpace: "could not be written because the file system is full"
        case .quotaExceeded: "could not be written because the disk quota is used up"
        case .fileTooLarge: "would become larger than the file system or the process's limits allow"
        case .tooManyOpenFiles: "could not be opened because too many files are open"
        case .outOfMemory: "could not be used because the system is out of memory"
        case .nameTooLong: "has a name that is too long for the file system"
        case .invalidPath: "is not a path: it is empty or holds a zero byte"
        case .linkLoop: "leads through symbolic links that never end"
        case .crossDevice: "cannot be renamed to another file system"
        case .busy: "is in use by the system"
        case .notOpen: "was used after it was closed"
        case .notWritable: "was opened for reading and cannot be changed or locked for writing"
        case .locksUnavailable: "could not be locked because the system has no more locks"
        case .notSupported: "lies on a file system that does not support this operation"
        case .staleHandle: "is gone from the file server"
        case .ioFailure: "could not be read or written by the device"
        case .unexpected: "met an error of the operating system"
        }
    }

    /// A full sentence.
    package var whatToDo: String {
        switch self {
        case .notFound: "Check the path; if the file was there before, restore it from a backup."
        case .gone: "Put the file back, or restore the store from a backup, then open it again."
        case .exists: "Choose another path, or move the existing file away."
        case .isDirectory: "Give the path of a file."
        case .notDirectory: "Give the path of a directory."
        case .notEmpty: "Move the files in it elsewhere first."
        case .notRegularFile: "Give the path of an ordinary file."
        case .permissionDenied:
            "Give this process's user read and write permission on the store's directory and its files."
        case .readOnlyFileSystem: "Mount it for writing, or open the store for reading only."
        case .noSpace: "Free space on that file system, then try again."
        case .quotaExceeded: "Raise the quota or remove files of the same owner, then try again."
        case .fileTooLarge: "Raise the process's file size limit (ulimit -f), or move the store to another file system."
        case .tooManyOpenFiles: "Raise the limit (ulimit -n), or close files elsewhere in this process."
        case .outOfMemory: "Free memory on this machine, then try again."
        case .nameTooLong: "Choose a shorter path."
        case .invalidPath: "Give the path of a file or directory."
        case .linkLoop: "Repair the symbolic links."
        case .crossDevice: "Keep all of a store's files on one file system."
        case .busy: "Stop the other program that is using it, then try again."
        case .notOpen: "This is a mistake in the program: keep the file open while it is in use."
        case .notWritable: "This is a mistake in the program: open the file for updating."
        case .locksUnavailable: "Close other programs that hold file locks, then try again."
        case .notSupported: "Move the store to a local file system such as ext4, XFS or Btrfs."
        case .staleHandle: "Check the file server, then open the store again."
        case .ioFailure: "Check the device and the system's log, and make a copy of the store before anything else."
        case .unexpected: "Look up the error number in errno(3)."
        }
    }
}
