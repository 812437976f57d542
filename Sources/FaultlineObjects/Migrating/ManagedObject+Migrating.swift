internal import FaultlineModel
internal import FaultlineStore

extension ManagedObject {
    /// Copies the position that an old object has in the collection of its target: the target of the new one has been
    /// set.
    package func takePlace(_ key: String, from old: ManagedObject, _ oldKey: String) {
        guard let slot = type.slotsByName[key], let oldSlot = old.type.slotsByName[oldKey] else { return }
        let source = old._$coreAddress()
        let number = source.pointee.number
        let given = source.pointee.read({ $0.orderKey(oldSlot) }, { $0.orderKey(oldSlot) }) ?? nil
        let core = _$coreAddress()
        let hasNumber = !core.pointee.has(.temporary) && core.pointee.number == number
        guard given != nil || !hasNumber, core.pointee.draftPointer != nil else { return }
        let order = given ?? MemberKey.defaultOrder(of: number)
        core.pointee.write { $0.setOrderKey(slot, order) }
    }

    /// The number of an attribute's value, if it is large Data; the value itself is not read.
    package func blobIdentifier(forKey key: String) -> UInt64? {
        guard let slot = type.slotsByName[key],
            let attribute = type.properties[slot].asAttribute, attribute.kind == .data,
            case .staged(let reference, _)? = _$coreAddress().pointee.blob(of: slot)?.place
        else { return nil }
        return reference.identifier
    }
}
