import Faultline
import FaultlineTestSupport
import Testing

/// Applies random operations to a store and to plain values, which must agree after every step.
@Suite struct RandomOperationsTests {
    @Test(arguments: Seed.list(16, unoptimized: 6)) func theStoreAgreesWithPlainValues(seed: Seed) throws {
        var random = seed
        let session = RandomSession(try TestStore(Folder.self), PlainContents())
        var steps: [String] = []
        for number in 0..<300 {
            steps.append(try session.step(&random))
            if number % 4 == 0 || steps.last == "save" || steps.last == "rollback" {
                let read = try session.read()
                #expect(read == session.now, "\(steps.suffix(14)) \(seed.replayLine)")
                if read != session.now { return }
            }
            if steps.last == "save" {
                let other = RandomSession(session.store, session.saved)
                #expect(try other.read() == session.saved, "fresh context after \(steps.suffix(14)) \(seed.replayLine)")
            }
        }
        try session.context.save()
        session.saved = session.now
        session.context = try session.store.reopened()
        #expect(try session.read() == session.saved, "\(seed.replayLine)")
    }

    @Test(arguments: Seed.list(8, unoptimized: 4)) func twoContextsThatTakeTurnsAgree(seed: Seed) throws {
        var random = seed
        let store = try TestStore(Folder.self)
        let sessions = [RandomSession(store, PlainContents()), RandomSession(store, PlainContents())]
        var steps: [String] = []
        for turn in 0..<40 {
            let session = sessions[turn % 2]
            let other = sessions[(turn + 1) % 2]
            session.saved = other.saved
            session.now = other.saved
            session.nextName = other.nextName
            for _ in 0..<random.below(8) {
                let step = try session.step(&random)
                if step == "reopen" { return }
                steps.append("\(turn % 2) \(step)")
            }
            let read = try session.read()
            #expect(read == session.now, "\(steps.suffix(14)) \(seed.replayLine)")
            if read != session.now { return }
            try session.context.save()
            session.saved = session.now
        }
        try store.reopen()
    }
}
