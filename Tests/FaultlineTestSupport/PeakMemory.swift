import CFaultline
import CFaultlineTestSupport
import FaultlineDisk
import Glibc

/// Resident memory of this process, as the kernel counts it.
///
/// Tests that run beside others in one process see their memory too: measure in a child of your own (an exit test).
package enum PeakMemory {
    /// Bytes resident now (`VmRSS`); nil where `/proc` does not tell.
    package static var residentByteCount: Int? { status("VmRSS:") }

    /// The most bytes that were resident since the process began or `reset` was called (`VmHWM`).
    package static var peakByteCount: Int? { status("VmHWM:") }

    /// Bytes that the allocator and `BufferMemory` have given out now; pages that nobody touched yet count too.
    package static var allocatedByteCount: Int {
        fl_test_allocated_byte_count() + BufferMemory.pagedByteCountInUse
    }

    /// Makes the present the peak.
    ///
    /// - Returns: False if the kernel does not allow it.
    package static func reset() -> Bool {
        let descriptor = fl_open("/proc/self/clear_refs", Int32(FL_ACCESS_UPDATING.rawValue))
        let usable = descriptor >= 0 ? descriptor : Glibc.open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC)
        guard usable >= 0 else { return false }
        defer { _ = fl_close(usable) }
        return fl_pwrite(usable, "5", 1, 0) == 1
    }

    /// Runs `body` and tells by how many bytes the peak rose above what was resident before.
    package static func growth<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> (result: R, byteCount: Int)? {
        guard reset(), let before = residentByteCount else { return nil }
        let result = try body()
        guard let peak = peakByteCount else { return nil }
        return (result, Swift.max(0, peak - before))
    }

    /// Lets the allocator map each block from a size on by itself, so that `mappedGrowth` sees it.
    ///
    /// For the rest of the process: call it in a child of your own.
    package static func mapAllocations(from byteCount: Int) { fl_test_map_allocations(byteCount) }

    /// Runs `body` and tells by how many bytes the peak of the address space (`VmPeak`) rose: the blocks of the size of
    /// `mapAllocations` that it held at once, whether they were touched or not.
    ///
    /// A thread that begins meanwhile counts too.
    package static func mappedGrowth<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> (result: R, byteCount: Int)? {
        guard let size = status("VmSize:"), let peak = status("VmPeak:") else { return nil }
        // Growth below the old peak would not be seen.
        let slack = max(peak - size, 4_096)
        let filler = mmap(nil, slack, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
        defer { munmap(filler, slack) }
        guard let before = status("VmPeak:") else { return nil }
        let result = try body()
        guard let after = status("VmPeak:") else { return nil }
        return (result, after - before)
    }

    private static func status(_ field: String) -> Int? {
        let descriptor = fl_open("/proc/self/status", Int32(FL_ACCESS_READING.rawValue))
        guard descriptor >= 0 else { return nil }
        defer { _ = fl_close(descriptor) }
        var text = [UInt8](repeating: 0, count: 8192)
        let byteCount = text.withUnsafeMutableBytes { fl_pread(descriptor, $0.baseAddress, $0.count, 0) }
        guard byteCount > 0 else { return nil }
        for line in String(decoding: text[..<Int(byteCount)], as: UTF8.self).split(separator: "\n")
        where line.hasPrefix(field) {
            let digits = line.dropFirst(field.count).filter(\.isNumber)
            return Int(digits).map { $0 * 1024 }
        }
        return nil
    }
}
