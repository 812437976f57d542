extension ModelCore {
    /// Records that a slot is read, if the thread tracks its reads.
    @inline(__always)
    mutating func noteRead(_ slot: Int) {
        if TrackingWord.isSet { noteTrackedRead(slot) }
    }

    @inline(never)
    private mutating func noteTrackedRead(_ slot: Int) {
        if let core = canonicalCore { return core.pointee.noteTrackedRead(slot) }
        let extra = extra
        let observation = extra.observation ?? ObjectObservation()
        if extra.observation == nil {
            extra.observation = observation
            enterObservation()
        }
        observation.noteRead(slot)
    }

    /// Notifies the observers of a slot that it changes.
    @inline(__always)
    mutating func noteChange(_ slot: Int) {
        if hasExtra { extraIfPresent?.observation?.noteChange(slot) }
    }

    /// Enters the observation in the context's list, if there are both.
    mutating func enterObservation() {
        guard let observation = extraIfPresent?.observation, has(.attached) else { return }
        observation.entity = home.takeUnretainedValue().entity
        observation.number = has(.temporary) ? 0 : number
        context?.observations.add(observation)
    }

    /// Removes the observation from the context's list.
    mutating func leaveObservation() {
        guard let observation = extraIfPresent?.observation else { return }
        context?.observations.remove(observation)
        observation.entity = nil
        observation.number = 0
    }
}
