/// The system calls that an error can name.
public enum SystemCall: String, Sendable, CaseIterable {
    case open, close, pread, pwrite, fdatasync, fsync, stat, fstat, unlink, rename, mkdir, rmdir, readdir, fcntl,
        statfs, fallocate, ftruncate
    case posixFadvise = "posix_fadvise"
    case syncFileRange = "sync_file_range"
    case copyFileRange = "copy_file_range"
}
