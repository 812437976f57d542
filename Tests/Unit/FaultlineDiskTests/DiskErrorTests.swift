import FaultlineDisk
import Glibc
import Testing

struct DiskErrorTests {
    static let table: [(Int32, SystemCall, DiskError.Code)] = [
        (ENOENT, .open, .notFound), (EEXIST, .mkdir, .exists), (EISDIR, .pread, .isDirectory),
        (ENOTDIR, .open, .notDirectory),
        (ENOTEMPTY, .rmdir, .notEmpty), (EACCES, .open, .permissionDenied), (EPERM, .unlink, .permissionDenied),
        (EROFS, .open, .readOnlyFileSystem), (ENOSPC, .pwrite, .noSpace), (EDQUOT, .pwrite, .quotaExceeded),
        (EFBIG, .pwrite, .fileTooLarge), (EOVERFLOW, .fstat, .fileTooLarge), (EMFILE, .open, .tooManyOpenFiles),
        (ENFILE, .open, .tooManyOpenFiles), (ENOMEM, .open, .outOfMemory), (ENAMETOOLONG, .open, .nameTooLong),
        (ELOOP, .open, .linkLoop), (EXDEV, .rename, .crossDevice), (EBUSY, .rmdir, .busy), (ETXTBSY, .open, .busy),
        (EBADF, .pread, .notOpen), (EBADF, .pwrite, .notWritable), (EBADF, .fcntl, .notWritable),
        (ENOLCK, .fcntl, .locksUnavailable), (ENOSYS, .fallocate, .notSupported),
        (EOPNOTSUPP, .fallocate, .notSupported),
        (EINVAL, .fsync, .notSupported), (EINVAL, .fcntl, .notSupported), (EINVAL, .pwrite, .unexpected),
        (ESTALE, .pread, .staleHandle), (EIO, .fdatasync, .ioFailure), (ENXIO, .pread, .ioFailure),
        (9999, .open, .unexpected),
    ]

    @Test(arguments: table.indices)
    func givesEveryErrorNumberItsCode(index: Int) {
        let (errorNumber, call, code) = Self.table[index]

        let error = DiskError(errorNumber: errorNumber, systemCall: call, path: "/store/log-1", offset: 7)

        #expect(error.code == code)
        #expect(error.errorNumber == errorNumber)
        #expect(error.systemCall == call)
    }

    /// The sentences that a user reads.
    ///
    /// Change them here too.
    @Test(arguments: [
        (
            DiskError(errorNumber: ENOSPC, systemCall: .pwrite, path: "/store/log-1", offset: 4096),
            "/store/log-1 at byte 4096: could not be written because the file system is full (pwrite, errno 28). "
                + "Free space on that file system, then try again."
        ),
        (
            DiskError(errorNumber: EIO, systemCall: .fdatasync, path: "/store/log-1"),
            "/store/log-1: could not be read or written by the device (fdatasync, errno 5). "
                + "Check the device and the system's log, and make a copy of the store before anything else."
        ),
        (
            DiskError(code: .invalidPath, systemCall: .open, path: ""),
            ": is not a path: it is empty or holds a zero byte (open). Give the path of a file or directory."
        ),
        (
            DiskError(errorNumber: EMFILE, systemCall: .open, path: "/s"),
            "/s: could not be opened because too many files are open (open, errno 24). "
                + "Raise the limit (ulimit -n), or close files elsewhere in this process."
        ),
    ])
    func saysWhatHappenedAndWhatToDo(error: DiskError, message: String) {
        #expect(error.message == message)
        #expect("\(error)" == message)
    }

    @Test(arguments: DiskError.Code.allCases)
    func hasSentencesOfItsOwnForEveryCode(code: DiskError.Code) {
        #expect(
            !code.whatHappened.isEmpty && code.whatHappened.first?.isLowercase == true
                && !code.whatHappened.hasSuffix("."))
        #expect(code.whatToDo.first?.isUppercase == true && code.whatToDo.hasSuffix("."))
        let same = DiskError.Code.allCases.filter { $0.whatHappened == code.whatHappened }
        #expect(same == [code])
    }

    @Test func knowsWhichErrorsAreAboutSpace() {
        let codes = DiskError.Code.allCases.filter { DiskError(code: $0, systemCall: .pwrite, path: "").isAboutSpace }

        #expect(codes == [.noSpace, .quotaExceeded, .fileTooLarge])
    }
}
