import Glibc

/// The kernel's figures of this process: memory, bytes written, processor time, and the load of the machine.
package enum ProcessFigures {
    /// The memory of the process, in KiB.
    package struct Memory: Sendable, Equatable {
        /// VmRSS: resident, with mapped file pages.
        package var residentKiB = 0
        /// VmHWM: the most resident since the last `resetPeak`.
        package var peakKiB = 0
        /// RssAnon: resident without file pages.
        package var anonymousKiB = 0
    }

    package static func memory() -> Memory {
        withContents(of: "/proc/self/status") { text in
            Memory(
                residentKiB: number(after: "VmRSS:", in: text) ?? 0,
                peakKiB: number(after: "VmHWM:", in: text) ?? 0,
                anonymousKiB: number(after: "RssAnon:", in: text) ?? 0
            )
        } ?? Memory()
    }

    /// Resets VmHWM to VmRSS; returns whether the kernel did it.
    @discardableResult
    package static func resetPeak() -> Bool {
        let descriptor = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return write(descriptor, "5", 1) == 1
    }

    /// Bytes that this process caused to be written to storage (`write_bytes`), or nil if the kernel does not count
    /// them.
    package static func writtenByteCount() -> Int? {
        withContents(of: "/proc/self/io") { number(after: "\nwrite_bytes:", in: $0) } ?? nil
    }

    /// Processes that wanted to run, averaged over the last minute.
    package static func load() -> Double {
        var averages = [0.0]
        return getloadavg(&averages, 1) == 1 ? averages[0] : 0
    }

    /// Nanoseconds on a clock that is never set.
    @inline(__always)
    package static func wallNanoseconds() -> UInt64 { nanoseconds(CLOCK_MONOTONIC) }

    /// Nanoseconds of processor time, all threads together.
    package static func processorNanoseconds() -> UInt64 { nanoseconds(CLOCK_PROCESS_CPUTIME_ID) }

    @inline(__always)
    private static func nanoseconds(_ clock: clockid_t) -> UInt64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }

    /// Passes the first 8 KiB of a file to `body` without allocating; nil if the file cannot be read.
    private static func withContents<Result>(
        of path: StaticString,
        _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result? {
        let name = UnsafeRawPointer(path.utf8Start).assumingMemoryBound(to: CChar.self)
        let descriptor = open(name, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return withUnsafeTemporaryAllocation(byteCount: 8192, alignment: 8) { memory in
            let count = read(descriptor, memory.baseAddress, memory.count)
            guard count > 0 else { return nil }
            return body(UnsafeRawBufferPointer(rebasing: memory[..<count]))
        }
    }

    /// The decimal number that follows `key` and blanks.
    package static func number(after key: StaticString, in text: UnsafeRawBufferPointer) -> Int? {
        guard let base = text.baseAddress else { return nil }
        let length = key.utf8CodeUnitCount
        var place = 0
        while true {
            guard place + length <= text.count else { return nil }
            if memcmp(base + place, key.utf8Start, length) == 0 { break }
            place += 1
        }
        place += length
        while place < text.count, text[place] == 0x20 || text[place] == 0x09 { place += 1 }
        var number: Int?
        while place < text.count, text[place] >= 0x30, text[place] <= 0x39 {
            let (tenfold, overflow) = (number ?? 0).multipliedReportingOverflow(by: 10)
            guard !overflow else { return nil }
            number = tenfold + Int(text[place] - 0x30)
            place += 1
        }
        return number
    }
}
