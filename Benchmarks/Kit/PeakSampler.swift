import Glibc
import Synchronization

/// A thread that samples every 10 ms the values without a high-water mark in the system: anonymous memory and bytes on
/// disk.
final class PeakSampler: Sendable {
    private let store: StoreFolder?
    private let anonymousKiB = Atomic<Int>(0)
    private let diskByteCount = Atomic<Int>(0)
    private let sampleCount = Atomic<Int>(0)
    private let isStopping = Atomic<Bool>(false)
    private let thread = Mutex<pthread_t?>(nil)

    /// The time between two samples.
    static let intervalNanoseconds = 10_000_000

    init(store: StoreFolder?) {
        self.store = store
    }

    /// The number of samples taken.
    var count: Int { sampleCount.load(ordering: .relaxed) }

    /// Takes the first sample and starts the thread.
    func start() {
        sample()
        // The thread owns one reference and releases it when it ends.
        let context = Unmanaged.passRetained(self).toOpaque()
        var handle = pthread_t()
        let status = pthread_create(
            &handle,
            nil,
            { context in
                if let context { Unmanaged<PeakSampler>.fromOpaque(context).takeRetainedValue().run() }
                return nil
            },
            context
        )
        guard status == 0 else {
            Unmanaged<PeakSampler>.fromOpaque(context).release()
            return
        }
        let started = handle
        thread.withLock { $0 = started }
    }

    /// Takes the last sample, ends the thread and returns the highest values.
    func stop() -> (anonymousKiB: Int, diskByteCount: Int) {
        sample()
        isStopping.store(true, ordering: .relaxed)
        if let handle = thread.withLock({ $0 }) { pthread_join(handle, nil) }
        return (anonymousKiB.load(ordering: .relaxed), diskByteCount.load(ordering: .relaxed))
    }

    private func run() {
        var pause = timespec(tv_sec: 0, tv_nsec: Self.intervalNanoseconds)
        while !isStopping.load(ordering: .relaxed) {
            nanosleep(&pause, nil)
            sample()
        }
    }

    private func sample() {
        anonymousKiB.max(ProcessFigures.memory().anonymousKiB, ordering: .relaxed)
        if let store { diskByteCount.max(store.diskByteCount, ordering: .relaxed) }
        sampleCount.add(1, ordering: .relaxed)
    }
}
