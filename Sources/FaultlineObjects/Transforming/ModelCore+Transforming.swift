internal import FaultlineModel
internal import Foundation

// The methods that the macro's accessors call for properties whose values go through a transformer.

extension ModelCore {
    /// Sets a new object's property to its first value, in the form that its transformer makes; a fault being made
    /// ignores it.
    ///
    /// A value that the transformer does not turn into bytes makes the saves of the object throw.
    public mutating func initializeTransformable<V>(_ slot: Int, to value: V) {
        guard _$beginInitialValue() else { return }
        writeTransformed(slot, value)
    }

    /// Reads a value through its transformer; a placeholder if it cannot be read, which is reported to the context.
    public mutating func transformableValue<V>(_ slot: Int) -> V {
        if _$isNil(slot), let nothing = (V.self as? any OptionalNil.Type)?.makeNil() as? V { return nothing }
        guard let data = data(of: slot) else { return standInOrEnd(slot) }
        if let made = transformer(of: slot)?.reverseTransformedValue(data), let value = made as? V { return value }
        // A row that is older than the property has no bytes.
        if !data.isEmpty { report(.undecodable(slot: slot, TransformerFailure(name: transformerName(of: slot)))) }
        return standInOrEnd(slot)
    }

    /// Changes a value, in the form that its transformer makes; the next save writes it.
    ///
    /// A value that the transformer does not turn into bytes makes the next save throw, and the slot does not change.
    public mutating func setTransformableValue<V>(_ slot: Int, to value: V) {
        if _$beginChange(slot) { writeTransformed(slot, value) }
    }

    private mutating func writeTransformed<V>(_ slot: Int, _ value: V) {
        guard let inner = unwrapped(value) else { return _$writeNil(slot) }
        let made = transformer(of: slot)?.transformedValue(inner)
        guard let data = made as? Data ?? (made as? NSData).map({ Data(referencing: $0) }) else {
            let name = modelType?.properties[slot].name ?? "property \(slot)"
            let failure = TransformerFailure(name: transformerName(of: slot))
            return refuse(
                SwiftDataError.modelValidationFailure.explained(
                    "\(className).\(name) was set to a value that cannot be stored: \(failure)."
                ).about(home._withUnsafeGuaranteedRef { $0.entityName }, name), slot)
        }
        Data._$write(data, &self, slot)
    }

    private func transformerName(of slot: Int) -> String? {
        guard let attribute = modelType?.properties[slot].asAttribute else { return nil }
        return attribute.options.lazy.compactMap(\.transformerName).first
    }

    private func transformer(of slot: Int) -> ValueTransformer? {
        transformerName(of: slot).flatMap { ValueTransformer.transformer(forName: NSValueTransformerName($0)) }
    }
}

/// Why a value does not pass its transformer.
private struct TransformerFailure: Error, CustomStringConvertible {
    let name: String?

    var description: String {
        guard let name else { return "the attribute names no transformer" }
        guard ValueTransformer.transformer(forName: NSValueTransformerName(name)) != nil else {
            return "no transformer is registered under the name \(name)"
        }
        return "the transformer \(name) returned nothing for it"
    }
}
