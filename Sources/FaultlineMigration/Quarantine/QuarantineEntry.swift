package import FaultlineLog
internal import FaultlineObjects
package import FaultlineStore

/// One record of the quarantine: `docs/FileFormat.md` section 7.2.
package enum QuarantineEntry: Sendable {
    /// An object: the reason, and its values.
    case object(QuarantinedRow)
    /// Numbers of other objects that belong to one.
    case numbers(QuarantinedNumbers)
}

/// An object in the version before the stage that could not convert it.
package struct QuarantinedRow: Codable, Sendable {
    /// The versions of the stage.
    package var from: String
    package var to: String
    package var entity: String
    package var object: UInt64
    package var rule: String
    package var property: String?
    package var reason: String
    /// By property, in the order of the class; collections are separate records.
    package var values: [QuarantinedValueRecord]

    /// The table it was in, so that a resumed migration recognises it.
    package var table: UInt16

    package init(
        from: String, to: String, entity: String, object: UInt64, rule: String, property: String?, reason: String,
        values: [QuarantinedValueRecord], table: UInt16
    ) {
        self.from = from
        self.to = to
        self.entity = entity
        self.object = object
        self.rule = rule
        self.property = property
        self.reason = reason
        self.values = values
        self.table = table
    }
}

/// Numbers of other objects that belong to an object of the quarantine.
package struct QuarantinedNumbers: Codable, Sendable {
    /// The record of the object.
    package var owner: UInt64
    /// The entity whose objects are numbered.
    package var entity: String
    /// The referring property: of the quarantined object for its members, else of the objects that refer to it.
    package var name: String
    /// Whether they refer to the object; if not, they are members of its collection.
    package var refer: Bool
    package var numbers: [UInt64]

    package init(owner: UInt64, entity: String, name: String, refer: Bool, numbers: [UInt64]) {
        self.owner = owner
        self.entity = entity
        self.name = name
        self.refer = refer
        self.numbers = numbers
    }
}

extension QuarantineEntry: Codable {
    private enum CodingKeys: String, CodingKey { case owner }

    /// Decodes the case whose keys are present.
    package init(from decoder: any Decoder) throws {
        if try decoder.container(keyedBy: CodingKeys.self).contains(.owner) {
            self = .numbers(try QuarantinedNumbers(from: decoder))
        } else {
            self = .object(try QuarantinedRow(from: decoder))
        }
    }

    /// Encodes the keys of the case.
    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .object(let row): try row.encode(to: encoder)
        case .numbers(let numbers): try numbers.encode(to: encoder)
        }
    }
}

extension QuarantineEntry {
    /// The greatest number of object numbers in one record.
    static let numbersMax = 4_096

    /// Adds a record to the quarantine.
    ///
    /// - Returns: Its number.
    @discardableResult
    func add(in transaction: inout Transaction) throws -> RecordID {
        let bytes = try NestedEncoder.encode(self, scalars: FoundationScalars())
        let number = try transaction.allocateIDs(1, in: .quarantine)
        try transaction.put(
            number, in: .quarantine, layout: 0, changed: nil, flags: .none, byteCount: bytes.count
        ) { target in bytes.withUnsafeBytes { target.copyMemory(from: $0) } }
        return number
    }

    /// Reads a record of the quarantine.
    ///
    /// - Throws: `StoreError` of code `.malformed` if it does not decode.
    package init(_ record: RecordView) throws(StoreError) {
        do {
            self = try NestedDecoder.decode(QuarantineEntry.self, from: record.row, scalars: FoundationScalars())
        } catch {
            throw StoreError(
                .malformed,
                "Record \(record.id) of the quarantine does not decode (\(error)). It was written by a newer release, or by a defect: run `faultline verify`."
            )
        }
    }

    /// Walks the records of the quarantine from a number on, until `body` returns false.
    ///
    /// - Complexity: Memory for one read.
    package static func forEach(
        in snapshot: Snapshot, from first: RecordID = 1, through last: RecordID = Limits.recordIDMax,
        _ body: (_ number: RecordID, _ entry: QuarantineEntry) throws -> Bool
    ) throws {
        guard snapshot.recordCount(of: .quarantine) > 0, first <= last else { return }
        try snapshot.scan(.quarantine, from: first, through: last, readAhead: 64 << 10) { records in
            for record in records where try !body(record.id, QuarantineEntry(record)) { return false }
            return true
        }
    }
}
