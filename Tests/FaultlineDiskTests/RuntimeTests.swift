import CFaultline
import Glibc
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

    @Test func keepsAPendingPointerForEachThread() {
        fl_pending_set(UnsafeMutableRawPointer(bitPattern: 0x1000))
        defer { fl_pending_set(nil) }

        let found = UnsafeMutablePointer<UInt>.allocate(capacity: 2)
        defer { found.deallocate() }
        found.initialize(repeating: 99, count: 2)
        var thread = pthread_t()
        let result = pthread_create(
            &thread, nil,
            { argument in
                guard let words = argument?.assumingMemoryBound(to: UInt.self) else { return nil }
                words[0] = UInt(bitPattern: fl_pending_get())
                fl_pending_set(UnsafeMutableRawPointer(bitPattern: 0x2000))
                words[1] = UInt(bitPattern: fl_pending_get())
                return nil
            }, found)
        #expect(result == 0)
        pthread_join(thread, nil)

        #expect(found[0] == 0)
        #expect(found[1] == 0x2000)
        #expect(fl_pending_get() == UnsafeMutableRawPointer(bitPattern: 0x1000))
    }
}
