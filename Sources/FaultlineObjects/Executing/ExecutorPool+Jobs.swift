internal import FaultlineDisk
internal import Synchronization

// The way of a job to a thread.

extension ExecutorPool {
    func enqueue(_ job: UnownedJob, _ call: PoolCall) {
        let (step, source) = state.withLock { state in (note(job, call, &state), sourceOfThread(&state)) }
        provide(source)
        switch step {
        case .refuse(let job): Self.runRefused([job])
        case .setAlarm(let alarm): setAlarm(alarm)
        case nil: break
        }
    }

    /// A step that follows outside of the lock.
    private enum Step {
        case refuse(CallJob)
        /// Calls must be searched for late ones at a moment.
        case setAlarm(ContinuousClock.Instant)
    }

    /// Puts a job where a thread will find it.
    private func note(_ job: UnownedJob, _ call: PoolCall, _ state: inout State) -> Step? {
        switch call.phase {
        case .new: break
        case .refused: return .refuse((job, call))
        case .waiting, .begun, .over:
            state.ready.append((job, call))
            return nil
        }
        if call.isNested {
            call.phase = .begun
            state.nested.append((job, call))
            return nil
        }
        let beginsAtOnce =
            state.queue.count == 0 && !state.hasFurtherJobs && state.underWay < underWayMax
            && state.threads.canRun(at: Self.now)
        call.phase = .waiting(job)
        call.priority = job.priority.rawValue
        state.queue.append(call)
        if let refusal = state.refusal { return Self.refuse(call, refusal, &state).map(Step.refuse) }
        guard let deadline = call.deadline, !beginsAtOnce else { return nil }
        if deadline <= .now { return Self.refuse(call, Self.busy(call, state), &state).map(Step.refuse) }
        guard state.alarm.map({ deadline < $0 }) ?? true else { return nil }
        state.alarm = deadline
        return .setAlarm(deadline)
    }

    /// Puts a job of an actor where a thread will find it, unless an earlier one of the actor waits or runs.
    func enqueue(_ job: UnownedJob, _ executor: PoolSerialExecutor) {
        let source = state.withLock { state -> PoolThreads.Source? in
            if executor.isBusy {
                executor.jobs.append(job)
                return nil
            }
            executor.isBusy = true
            state.actors.append((job, executor))
            return sourceOfThread(&state)
        }
        provide(source)
    }

    /// Takes note that a job of an actor has run.
    func noteRun(_ executor: PoolSerialExecutor) {
        let source = state.withLock { state -> PoolThreads.Source? in
            guard let next = executor.jobs.popFirst() else {
                executor.isBusy = false
                return nil
            }
            state.actors.append((next, executor))
            return sourceOfThread(&state)
        }
        provide(source)
    }

    enum Work {
        case call(UnownedJob, PoolCall)
        case actor(UnownedJob, PoolSerialExecutor)
    }

    /// Takes the next job; nil if there is none.
    func next(_ state: inout State) -> Work? {
        if let (job, call) = state.nested.popFirst() ?? state.ready.popFirst() { return .call(job, call) }
        // Actors and calls take turns, so that neither waits for all of the others.
        let isTurnOfActor = state.isTurnOfActor
        state.isTurnOfActor.toggle()
        if isTurnOfActor { return nextOfActor(&state) ?? nextCall(&state) }
        return nextCall(&state) ?? nextOfActor(&state)
    }

    private func nextOfActor(_ state: inout State) -> Work? {
        state.actors.popFirst().map { Work.actor($0, $1) }
    }

    private func nextCall(_ state: inout State) -> Work? {
        guard state.underWay < underWayMax, let call = state.queue.popFirst(),
            case .waiting(let job) = call.phase
        else { return nil }
        call.phase = .begun
        state.underWay += 1
        return .call(job, call)
    }
}
