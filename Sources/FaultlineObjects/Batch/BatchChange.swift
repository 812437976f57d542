internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineStore

/// A value that a batch update gives to a property of every object it finds.
public struct BatchChange<T: PersistentModel> {
    let slot: (ModelType) -> Int?
    let keyPath: String
    let value: Any?

    /// Gives an attribute a value.
    public static func set<Value>(_ keyPath: KeyPath<T, Value>, to value: Value) -> BatchChange {
        BatchChange(slot: { $0.slots[keyPath] }, keyPath: "\(keyPath)", value: value)
    }
}

/// The result of a batch.
public struct BatchResult: Sendable, Equatable {
    /// Objects that were changed, inserted or deleted, by entity, including objects that a delete rule deleted.
    public internal(set) var objectCounts: [String: Int] = [:]

    /// How many objects of a batch insertion were stored before, or come from several of its rows.
    public internal(set) var upsertCount = 0

    /// Rows of a batch insertion that were left out because other objects have their unique values: they are not among
    /// the objects.
    public internal(set) var ignoredCount = 0

    /// The sum over all entities.
    public var objectCount: Int { objectCounts.values.reduce(0, +) }
}

/// A slot and the value that a batch gives it.
struct SlotChange {
    private enum Value {
        case none
        case fitted(AttributeValue)
        case encoded([UInt8])
    }

    let slot: Int
    private let value: Value

    /// - Parameters:
    ///   - slot: The slot in the table.
    ///   - type: Describes the objects of the table.
    ///   - place: The position of the objects' class in a table with several.
    ///   - value: The new value.
    /// - Throws: `modelValidationFailure` if the property cannot have the value, or is no attribute.
    init(_ slot: Int, of type: ModelType, inClass place: Int = 0, to value: Any?) throws {
        self.slot = slot
        let property = type.properties[slot]
        func refusal(_ text: String) -> SwiftDataError {
            .modelValidationFailure.explained("\(type.entityName).\(property.name) \(text)")
        }
        guard let attribute = property.asAttribute else {
            throw refusal("is a relationship, which a batch does not set. Set it on the objects.")
        }
        let ofClass = type.hierarchy?.classes[place]
        guard type.family != nil && place == 0 || ofClass?.has(slot) ?? true else {
            throw refusal("is a property of a subclass, or tells the class of an object. Set it by the subclass.")
        }
        guard !attribute.isTransient else {
            throw refusal("is ephemeral: it is never stored, so that a batch cannot set it. Set it on the objects.")
        }
        guard let value = value.flatMap(unwrapped) else {
            guard attribute.isOptional, ofClass?.requiredSlots.contains(slot) != true else {
                throw refusal("is required, and a batch was to set it to nil.")
            }
            self.value = .none
            return
        }
        do throws(AttributeValue.Misfit) {
            let fitted = try AttributeValue(value, kind: attribute.kind)
            if case .encodable(let nested) = fitted {
                do { self.value = .encoded(try CodableValue(nested).bytes) } catch {
                    throw AttributeValue.Misfit.wrongType
                }
            } else {
                self.value = .fitted(fitted)
            }
        } catch {
            throw refusal("holds \(attribute.valueTypeName), and a batch was to set it to \(value).")
        }
    }

    func apply(to draft: inout Draft) {
        switch value {
        case .none: draft.setNil(slot)
        case .fitted(let value): draft.set(value, slot)
        case .encoded(let bytes): bytes.withUnsafeBytes { draft.setBytes(slot, $0) }
        }
    }
}
