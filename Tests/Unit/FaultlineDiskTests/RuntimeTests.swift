import CFaultline
import FaultlineDisk
import Synchronization
import Testing

/// The additions of the C target to the Swift runtime.
struct RuntimeTests {
    /// Calls from inside its own deinitialization, where a retain must fail.
    private final class Dying {
        let answer: UnsafeMutablePointer<Bool>

        init(answer: UnsafeMutablePointer<Bool>) {
            self.answer = answer
        }

        deinit {
            answer.pointee = fl_try_retain(Unmanaged.passUnretained(self).toOpaque())
        }
    }

    @Test func retainsAnObjectThatLives() {
        let answer = UnsafeMutablePointer<Bool>.allocate(capacity: 1)
        defer { answer.deallocate() }
        answer.initialize(to: true)
        var object: Dying? = Dying(answer: answer)
        let address = object.map { Unmanaged.passUnretained($0).toOpaque() }

        let isRetained = fl_try_retain(address)
        object = nil

        #expect(isRetained)
        #expect(answer.pointee, "the object went away although it had been retained")
        if let address { Unmanaged<Dying>.fromOpaque(address).release() }
        #expect(!answer.pointee, "an object was retained inside its own deinitialization")
    }

    @Test func keepsAPendingPointerForEachThread() throws {
        fl_pending_set(UnsafeMutableRawPointer(bitPattern: 0x1000))
        defer { fl_pending_set(nil) }

        let found = Guarded<[UInt]>([])
        let thread = try #require(
            SystemThread {
                let before = UInt(bitPattern: fl_pending_get())
                fl_pending_set(UnsafeMutableRawPointer(bitPattern: 0x2000))
                let after = UInt(bitPattern: fl_pending_get())
                found.withLock { $0 = [before, after] }
            })
        thread.join()

        #expect(found.withLock { $0 } == [0, 0x2000])
        #expect(fl_pending_get() == UnsafeMutableRawPointer(bitPattern: 0x1000))
    }
}
