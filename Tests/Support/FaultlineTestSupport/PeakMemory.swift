import CFaultline
import CFaultlineTestSupport
import FaultlineDisk
import Glibc

/// Resident memory of this process, by the kernel's count.
///
/// Tests in the same process see each other's memory: measure in a separate child process (an exit test).
package enum PeakMemory {
    /// Whether the process runs without a sanitizer, which would have memory of its own and keep freed memory.
    package static let isExact = dlsym(nil, "__asan_init") == nil && dlsym(nil, "__tsan_init") == nil

    /// Bytes resident now (`VmRSS`); nil if `/proc` does not have it.
    package static var residentByteCount: Int? { status("VmRSS:") }

    /// The largest number of resident bytes since the process began or `reset` was called (`VmHWM`).
    package static var peakByteCount: Int? { status("VmHWM:") }

    /// Bytes that the allocator and `BufferMemory` have handed out; untouched pages count too.
    package static var allocatedByteCount: Int {
        fl_test_allocated_byte_count() + BufferMemory.pagedByteCountInUse
    }

    /// Resets the peak to the present value.
    ///
    /// - Returns: False if the kernel does not allow it.
    package static func reset() -> Bool {
        let descriptor = fl_open("/proc/self/clear_refs", Int32(FL_ACCESS_UPDATING.rawValue))
        let usable = descriptor >= 0 ? descriptor : Glibc.open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC)
        guard usable >= 0 else { return false }
        defer { _ = fl_close(usable) }
        return fl_pwrite(usable, "5", 1, 0) == 1
    }

    /// Runs `body` and returns by how many bytes the peak rose above the resident bytes before.
    package static func growth<R, E: Error>(_ body: () throws(E) -> R) throws(E) -> (result: R, byteCount: Int)? {
        guard reset(), let before = residentByteCount else { return nil }
        let result = try body()
        guard let peak = peakByteCount else { return nil }
        return (result, Swift.max(0, peak - before))
    }

    /// The rise of the peak of resident memory from its making on, for proofs: it is measured, or an error is thrown.
    package struct Rise {
        /// Resident bytes when it was made.
        package let before: Int

        /// Resets the peak.
        ///
        /// - Throws: `Unmeasured` if the kernel does not allow that, or has no resident bytes.
        package init() throws(Unmeasured) { try self.init(isReset: reset(), before: residentByteCount) }

        /// With the answers of the kernel.
        package init(isReset: Bool, before: Int?) throws(Unmeasured) {
            guard isReset else { throw Unmeasured(cause: "it cannot be reset by /proc/self/clear_refs") }
            self.before = try known(before, "VmRSS")
        }

        /// By how many bytes the peak rose above the resident bytes before.
        ///
        /// - Throws: `Unmeasured` if the kernel has no peak.
        package func byteCount(to peak: Int? = peakByteCount) throws(Unmeasured) -> Int {
            try known(peak, "VmHWM") - before
        }
    }

    /// Resident memory cannot be measured.
    package struct Unmeasured: Error, CustomStringConvertible {
        package let cause: String
        package var description: String { "the peak of resident memory cannot be measured: \(cause)" }
    }

    /// A figure of `/proc/self/status`, if it has it.
    package static func known(_ figure: Int?, _ field: String) throws(Unmeasured) -> Int {
        guard let figure else { throw Unmeasured(cause: "/proc/self/status has no \(field)") }
        return figure
    }

    /// Makes the allocator map each block from a size on separately, so that `mappedGrowth` sees it.
    ///
    /// For the rest of the process: call it in a separate child process.
    package static func mapAllocations(from byteCount: Int) { fl_test_map_allocations(byteCount) }

    /// Runs `body` and returns by how many bytes the peak of the address space (`VmPeak`) rose: the blocks above the
    /// size of `mapAllocations` that it held at once, touched or not.
    ///
    /// A thread that begins at the same time counts too.
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
