import Glibc

/// A thread of the operating system, which runs a closure and ends.
package struct SystemThread {
    /// The closure in a box, which the new thread takes over.
    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    private let handle: pthread_t

    /// Starts a thread, to be joined or detached once; nil if the system refuses one.
    package init?(_ run: @escaping @Sendable () -> Void) {
        let body = Unmanaged.passRetained(Body(run))
        var handle = pthread_t()
        let status = pthread_create(
            &handle, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, body.toOpaque())
        guard status == 0 else {
            body.release()
            return nil
        }
        self.handle = handle
    }

    /// Lets the calling thread wait; a signal may end the wait early.
    package static func sleep(nanoseconds: UInt64) {
        var time = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        nanosleep(&time, nil)
    }

    /// Waits until the closure has returned.
    package func join() { pthread_join(handle, nil) }

    /// Lets the thread end by itself.
    package func detach() { pthread_detach(handle) }
}
