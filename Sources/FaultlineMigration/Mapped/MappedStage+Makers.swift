internal import FaultlineLog
internal import FaultlineModel
internal import FaultlineObjects
internal import FaultlineStore

// The old objects of failed ones, and those in the quarantine.

extension MappedStage {
    /// Whether an old object is in the quarantine.
    func isTaken(_ number: RecordID, ofSource entityName: String) -> Bool {
        guard !course.quarantine.isEmpty, let table = record.sourceMap.entity(named: entityName)?.table else {
            return false
        }
        return course.quarantine.contains(number, in: table)
    }

    /// The old objects of a new one, by all mappings.
    func makers(of new: RecordID, entityNamed name: String) throws -> [(entity: String, number: RecordID)] {
        var found: [(entity: String, number: RecordID)] = []
        for mapping in mappings where mapping.destination?.name == name {
            guard let source = mapping.source?.name else { continue }
            let numbers =
                mapping.isOneToOne ? [new] : try associations[mapping.place].sources(of: new, in: newest())
            found += numbers.map { (source, $0) }
        }
        return found
    }
}
