internal import FaultlineModel

// Values of `.ephemeral` attributes: kept beside the object while it lives, and never written.

extension ModelCore {
    /// Sets a new object's ephemeral property to its first value; a fault being made has its default.
    public mutating func initializeEphemeral<V>(_ slot: Int, to value: V) {
        guard _$beginInitialValue() else { return }
        extra.ephemerals[slot] = value
    }

    /// Reads an ephemeral value: the last one that was set, else the declared default.
    public mutating func ephemeralValue<V>(_ slot: Int, orElse standIn: @autoclosure () -> V) -> V {
        givenEphemeral(slot) ?? standIn()
    }

    /// Reads an ephemeral value of a property without a default: a placeholder if none was set.
    public mutating func ephemeralValue<V>(_ slot: Int) -> V {
        if let value: V = givenEphemeral(slot) { return value }
        return standInOrEnd(slot)
    }

    /// The last value that was set; nil for none.
    private mutating func givenEphemeral<V>(_ slot: Int) -> V? {
        if let core = canonicalCore { return core.pointee.givenEphemeral(slot) }
        noteRead(slot)
        return extraIfPresent?.ephemerals[slot].flatMap { $0 as? V }
    }

    /// Sets an ephemeral value, which no save writes.
    public mutating func setEphemeralValue<V>(_ slot: Int, to value: V) {
        if let core = canonicalCore { return core.pointee.setEphemeralValue(slot, to: value) }
        noteChange(slot)
        // The last value lives on until the change is made: its end may run code that reads the object.
        let last = extra.ephemerals.updateValue(value, forKey: slot)
        withExtendedLifetime(last) {}
    }

    /// Removes the values that were set: the object's ephemeral properties have their defaults again, or the values that
    /// `awakeFromFetch` sets before the next use.
    mutating func forgetEphemerals() {
        remove(.awake)
        guard let extra = extraIfPresent, !extra.ephemerals.isEmpty else { return }
        let slots = extra.ephemerals.keys.sorted()
        extra.ephemerals = [:]
        slots.forEach { noteChange($0) }
    }

    // MARK: By name

    /// The value of an ephemeral attribute, boxed; nil for nil.
    mutating func keyedEphemeral(_ slot: Int, _ attribute: Schema.Attribute) -> Any? {
        unwrapped(ephemeralValue(slot, orElse: attribute.defaultValue as Any)).map(EphemeralValue.read)
    }

    /// Sets an ephemeral attribute to a boxed value of its kind.
    mutating func setKeyedEphemeral(
        _ slot: Int, _ attribute: Schema.Attribute, to value: Any?
    ) throws(KeyedValueError) {
        guard let value else {
            guard attribute.isOptional else { throw KeyedValueError(message: "is required, and was set to nil.") }
            return setEphemeralValue(slot, to: Any?.none as Any)
        }
        setEphemeralValue(slot, to: try EphemeralValue.written(value, to: attribute))
    }
}
