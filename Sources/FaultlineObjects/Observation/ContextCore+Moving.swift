internal import FaultlineLog
internal import FaultlineStore

extension ContextCore {
    /// Notifies observers of a move of the context to a state that another context has saved.
    func noteMove(from old: Snapshot, to new: Snapshot) {
        guard !observations.isEmpty, old.sequence != new.sequence else { return }
        observations.forEach { observation in
            guard observation.number != 0, let entity = observation.entity else { return }
            let place = try? old.location(of: observation.number, in: entity.table)
            let isRowTheSame = try? new.location(of: observation.number, in: entity.table) == place
            for slot in observation.slots.sorted() {
                if case .toMany(let relationship) = entity.slots[slot] {
                    let index = relationship.members.index
                    let members = try? storedMembers(of: observation.number, in: index, at: old)
                    if let members, members == (try? storedMembers(of: observation.number, in: index, at: new)) {
                        continue
                    }
                } else if isRowTheSame == true {
                    continue
                }
                observation.noteChange(slot)
            }
        }
    }

    private func storedMembers(
        of owner: RecordID, in index: IndexDefinition, at snapshot: Snapshot
    ) throws -> [RecordID] {
        let numbers = try snapshot.memberNumbers(of: owner, in: index)
        reports.walked.indexEntries += numbers.count
        return numbers
    }
}
