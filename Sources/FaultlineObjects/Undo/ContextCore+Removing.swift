internal import FaultlineStore

extension ContextCore {
    /// Deletes objects whose insertion is taken back; objects that are related to them stay.
    ///
    /// Relationships to others end first, so that no delete rule reaches those.
    func remove(_ handles: [ObjectHandle]) {
        let removed = Set(handles.map { ObjectIdentifier($0.object) })
        for handle in handles {
            guard let entity = handle.core.pointee.home.takeUnretainedValue().entity else { continue }
            for (slot, storage) in entity.slots.enumerated() {
                switch storage {
                case .attribute: continue
                case .toOne:
                    guard let target = MemberReader(self).target(of: &handle.core.pointee, slot),
                        !removed.contains(ObjectIdentifier(target))
                    else { continue }
                    RelationshipEditor(self).setTarget(of: handle, slot, to: nil)
                case .toMany(let relationship):
                    let members = MemberReader(self).memberObjects(of: handle, slot)
                    let kept = members.filter { removed.contains(ObjectIdentifier($0)) }
                    guard kept.count < members.count else { continue }
                    let home = homes[relationship.destination]
                    RelationshipEditor(self).setMembers(of: handle, slot, to: kept.compactMap(home.handle(of:)))
                }
            }
        }
        handles.forEach(delete)
    }
}
