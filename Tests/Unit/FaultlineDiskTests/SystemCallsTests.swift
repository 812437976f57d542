import CFaultline
import FaultlineTestSupport
import Glibc
import Testing

/// The calls of the C target that `PosixDisk` does not use, and its functions that are not system calls.
struct SystemCallsTests {
    let directory = TemporaryDirectory()

    private func makeFile(_ name: String, byteCount: Int) throws -> Int32 {
        let descriptor = fl_open(directory.path + "/" + name, Int32(FL_ACCESS_CREATING.rawValue))
        try #require(descriptor >= 0)
        let bytes = (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try #require(fl_pwrite(descriptor, bytes, byteCount, 0) == Int64(byteCount))
        return descriptor
    }

    @Test func returnsTheErrorNumberNegated() {
        #expect(fl_open(directory.path + "/missing", Int32(FL_ACCESS_READING.rawValue)) == -ENOENT)
        #expect(fl_open(directory.path, 99) == -EINVAL)
        #expect(fl_close(-1) == -EBADF)
        #expect(fl_fdatasync(-1) == -EBADF)
        #expect(fl_fsync(-1) == -EBADF)
        #expect(fl_syncfs(-1) == -EBADF)
        #expect(fl_forget_cached_pages(-1) == -EBADF)
        #expect(fl_start_writeback(-1, 0, 0) == -EBADF)
        #expect(fl_allocate(-1, 0, 1, true) == -EBADF)
        #expect(fl_copy_range(-1, 0, -1, 0, 1) == -Int64(EBADF))
        #expect(fl_clone(-1, -1) == -EBADF)
        #expect(fl_lock(-1, 0, true) == -EBADF)
        #expect(fl_is_locked(-1, 0, true) == -EBADF)
    }

    @Test func allocatesWithAndWithoutTheLength() throws {
        let descriptor = try makeFile("f", byteCount: 10)
        defer { _ = fl_close(descriptor) }
        var status = fl_file_status()

        #expect(fl_allocate(descriptor, 0, 8192, true) == 0)
        #expect(fl_status(descriptor, &status) == 0 && status.byte_count == 10)
        #expect(fl_allocate(descriptor, 0, 8192, false) == 0)
        #expect(fl_status(descriptor, &status) == 0 && status.byte_count == 8192)
    }

    @Test func copiesInsideTheKernel() throws {
        let source = try makeFile("source", byteCount: 5000)
        let target = try makeFile("target", byteCount: 0)
        defer { (_, _) = (fl_close(source), fl_close(target)) }

        #expect(fl_copy_range(source, 1000, target, 0, 10_000) == 4000)
        #expect(fl_copy_range(source, 5000, target, 4000, 10) == 0)
        var bytes = [UInt8](repeating: 0, count: 4000)
        #expect(fl_pread(target, &bytes, 4000, 0) == 4000)
        #expect(bytes == (1000..<5000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    }

    @Test func clonesOrSaysThatTheFileSystemCannot() throws {
        let source = try makeFile("source", byteCount: 5000)
        let target = try makeFile("target", byteCount: 0)
        defer { (_, _) = (fl_close(source), fl_close(target)) }

        let result = fl_clone(source, target)

        #expect([0, -EOPNOTSUPP, -EINVAL, -ENOTTY].contains(result))
    }

    @Test func startsWritingBackAndSynchronizesAFileSystem() throws {
        let descriptor = try makeFile("f", byteCount: 5000)
        defer { _ = fl_close(descriptor) }

        #expect(fl_start_writeback(descriptor, 0, 5000) == 0)
        #expect(fl_forget_cached_pages(descriptor) == 0)
    }

    @Test func tellsWhetherAnotherHoldsALock() throws {
        let first = try makeFile("f", byteCount: 1)
        let second = fl_open(directory.path + "/f", Int32(FL_ACCESS_UPDATING.rawValue))
        defer { (_, _) = (fl_close(first), fl_close(second)) }

        #expect(fl_lock(first, 5, false) == 0)

        #expect(fl_is_locked(second, 5, true) == 1)
        #expect(fl_is_locked(second, 5, false) == 0)
        #expect(fl_is_locked(second, 6, true) == 0)
        #expect(fl_is_locked(first, 5, true) == 0)
    }

    @Test func tellsWallTime() {
        // 2020-01-01 and 2200-01-01.
        #expect((1_577_836_800_000_000_000..<7_258_118_400_000_000_000).contains(fl_wall_nanoseconds()))
    }

    @Test func prefetchesAnything() {
        fl_prefetch(nil)
        fl_prefetch(UnsafeRawPointer(bitPattern: 0xDEAD_BEEF))
    }
}
