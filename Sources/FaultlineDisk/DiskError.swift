import Glibc

/// An error of the operating system: the call, its error number and the path.
///
/// Two errors are equal if all of their parts are.
public struct DiskError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of error, for callers that react to it.
    ///
    /// `DiskError+Sentences.swift` has the remedy for each.
    public enum Code: String, Sendable, CaseIterable {
        case notFound, gone, exists, isDirectory, notDirectory, notEmpty, notRegularFile
        case permissionDenied, readOnlyFileSystem
        case noSpace, quotaExceeded, fileTooLarge
        case tooManyOpenFiles, outOfMemory
        case nameTooLong, invalidPath, linkLoop, crossDevice, busy
        case notOpen, notWritable
        case locksUnavailable, notSupported
        case staleHandle, ioFailure
        case unexpected
    }

    /// The kind of error.
    package let code: Code
    /// The system call that failed, or would have failed.
    package let systemCall: SystemCall
    /// The value of `errno` after the call; 0 if the call was never made.
    package let errorNumber: Int32
    /// The file or directory; for a rename the source.
    package let path: String
    /// The offset in the file in bytes, for reads and writes.
    package let offset: UInt64?
    /// The open files of stores, if there were too many.
    package private(set) var openFiles: OpenFileCount?

    package init(code: Code, systemCall: SystemCall, errorNumber: Int32 = 0, path: String, offset: UInt64? = nil) {
        self.code = code
        self.systemCall = systemCall
        self.errorNumber = errorNumber
        self.path = path
        self.offset = offset
    }

    /// Creates the error that a call reported with `errno`.
    package init(errorNumber: Int32, systemCall: SystemCall, path: String, offset: UInt64? = nil) {
        self.init(
            code: Code(errorNumber: errorNumber, of: systemCall), systemCall: systemCall, errorNumber: errorNumber,
            path: path,
            offset: offset)
    }

    /// The same error with the open files of stores.
    func counting(_ openFiles: OpenFileCount) -> DiskError {
        var error = self
        error.openFiles = openFiles
        return error
    }

    /// Whether bytes could not be written because of missing space.
    package var isAboutSpace: Bool {
        switch code {
        case .noSpace, .quotaExceeded, .fileTooLarge: true
        default: false
        }
    }
}

extension DiskError.Code {
    /// Creates the code of an `errno` value.
    ///
    /// `EBADF` depends on the call. For a lock or a write, it means that the file was opened for reading.
    package init(errorNumber: Int32, of systemCall: SystemCall) {
        self =
            switch errorNumber {
            case ENOENT: .notFound
            case EEXIST: .exists
            case EISDIR: .isDirectory
            case ENOTDIR: .notDirectory
            case ENOTEMPTY: .notEmpty
            case EACCES, EPERM: .permissionDenied
            case EROFS: .readOnlyFileSystem
            case ENOSPC: .noSpace
            case EDQUOT: .quotaExceeded
            case EFBIG, EOVERFLOW: .fileTooLarge
            case EMFILE, ENFILE: .tooManyOpenFiles
            case ENOMEM, ENOBUFS: .outOfMemory
            case ENAMETOOLONG: .nameTooLong
            case ELOOP: .linkLoop
            case EXDEV: .crossDevice
            case EBUSY, ETXTBSY: .busy
            case EBADF:
                switch systemCall {
                case .pwrite, .fcntl, .fallocate: .notWritable
                default: .notOpen
                }
            case EINVAL where systemCall == .ftruncate: .notWritable
            case ENOLCK: .locksUnavailable
            case ENOSYS, EOPNOTSUPP, ENOTTY: .notSupported
            case EINVAL where systemCall == .fsync || systemCall == .fdatasync || systemCall == .fcntl: .notSupported
            case ESTALE: .staleHandle
            case EIO, ENXIO, ENODEV, EREMOTEIO, ETIMEDOUT: .ioFailure
            default: .unexpected
            }
    }
}
