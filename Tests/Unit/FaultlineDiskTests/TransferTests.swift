import FaultlineDisk
import FaultlineTestSupport
import Glibc
import Testing

struct TransferTests {
    /// A list of answers of a system call, in order.
    struct Script {
        var answers: [Int64]
        var places: [Int] = []

        mutating func answer(_ done: Int) -> Int64 {
            places.append(done)
            return answers.isEmpty ? -Int64(EIO) : answers.removeFirst()
        }
    }

    @Test func resumesShortReadsAndSignals() {
        var script = Script(answers: [-Int64(EINTR), 1, 3, -Int64(EINTR), -Int64(EINTR), 6])

        let result = Transfer.reading(10) { script.answer($0) }

        #expect(result == (10, 0))
        #expect(script.places == [0, 0, 1, 4, 4, 4])
    }

    @Test func stopsReadingAtTheEndOfTheFile() {
        var script = Script(answers: [4, 0])

        #expect(Transfer.reading(10) { script.answer($0) } == (4, 0))
        #expect(script.places == [0, 4])
    }

    @Test func reportsAReadsErrorAndHowFarItCame() {
        var script = Script(answers: [4, -Int64(EIO)])

        #expect(Transfer.reading(10) { script.answer($0) } == (4, EIO))
    }

    @Test func resumesShortWritesAndSignals() {
        var script = Script(answers: [1, -Int64(EINTR), 8, 1])

        #expect(Transfer.writing(10) { script.answer($0) } == (10, 0))
        #expect(script.places == [0, 1, 1, 9])
    }

    @Test func failsAWriteThatMovesNothing() {
        var script = Script(answers: [5, 0, 5])

        #expect(Transfer.writing(10) { script.answer($0) } == (5, EIO))
    }

    @Test func reportsAFullDiskMidway() {
        var script = Script(answers: [5, -Int64(ENOSPC)])

        #expect(Transfer.writing(10) { script.answer($0) } == (5, ENOSPC))
    }

    @Test func callsNothingForNothing() {
        var script = Script(answers: [])

        #expect(Transfer.reading(0) { script.answer($0) } == (0, 0))
        #expect(Transfer.writing(0) { script.answer($0) } == (0, 0))
        #expect(script.places.isEmpty)
    }

    @Test func repeatsWhatASignalInterrupted() {
        var answers: [Int32] = [-EINTR, -EINTR, -EROFS, 0]

        #expect(Transfer.uninterrupted { answers.removeFirst() } == -EROFS)
        #expect(answers == [0])
    }
}
