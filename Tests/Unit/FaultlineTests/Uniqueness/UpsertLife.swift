import Faultline
import FaultlineTestSupport
import Testing

@Model final class Ticket {
    #Unique<Ticket>([\.number, \.hall])

    @Attribute(.unique) var code: String
    var number: Int?
    var hall: Hall?
    var note: Int = 0

    init(_ code: String, number: Int?, hall: Hall?, note: Int) {
        self.code = code
        self.number = number
        self.hall = hall
        self.note = note
    }
}

/// A store of tickets that random inserts replace, with its expected contents in plain values.
final class UpsertLife {
    struct Plain: Equatable {
        var number: Int?
        var hall: String?
        var note: Int

        /// The value that must be unique; nil if there is none.
        var key: String? {
            guard let number, let hall else { return nil }
            return "\(number) \(hall)"
        }
    }

    /// The last operation on a code since the last save; higher cases may follow lower ones.
    fileprivate enum Phase: Int { case untouched, updated, deleted, inserted }

    /// The changes since the last save.
    struct Unit {
        var next: [String: Plain]
        fileprivate var phases: [String: Phase] = [:]
        fileprivate var made: [(ticket: Ticket, code: String)] = []
        fileprivate var dropped: [Ticket] = []
        /// Whether the object that an insert replaces depends on the order.
        fileprivate var isAmbiguous = false

        init(next: [String: Plain]) { self.next = next }
    }

    private let seed: Seed
    var random: Seed
    private let store: TestStore
    private var context: ModelContext
    private(set) var plain: [String: Plain] = [:]
    private(set) var saveCount = 0
    private var held: [(ticket: Ticket, code: String)] = []
    private var gone: [Ticket] = []
    private var steps: [String] = []

    init(_ seed: Seed) throws {
        self.seed = seed
        random = seed
        store = try TestStore(Ticket.self)
        context = store.context()
    }

    private var trace: Comment { "\(steps.suffix(16)) \(seed.replayLine)" }

    /// Deletes, updates or inserts a ticket.
    func change(_ unit: inout Unit, note: Int) throws {
        let code = "c\(random.below(5))"
        let phase = unit.phases[code] ?? .untouched
        let number: Int? = random.oneIn(5) ? nil : random.below(3)
        let hallName: String? = random.oneIn(3) ? nil : "h\(random.below(2))"
        let kind = random.below(7)
        guard kind < 3, phase.rawValue < Phase.deleted.rawValue, plain[code] != nil else {
            return insert(code, Plain(number: number, hall: hallName, note: note), &unit)
        }
        let known = held.filter { $0.code == code }.map(\.ticket)
        let ticket =
            try known.isEmpty
            ? #require(try context.fetch(FetchDescriptor<Ticket>(predicate: #Predicate { $0.code == code })).first)
            : random.pick(known)
        if kind == 0 {
            context.delete(ticket)
            unit.next[code] = nil
            unit.phases[code] = .deleted
            unit.dropped += known
            steps.append("delete \(code)")
            return
        }
        ticket.note = note
        unit.next[code]?.note = note
        if kind == 1 {
            ticket.number = number
            // A new hall replaces the stored one with its name.
            ticket.hall = hallName.map { Hall($0) }
            unit.next[code]?.number = number
            unit.next[code]?.hall = hallName
        }
        unit.phases[code] = .updated
        for other in known { #expect(other.note == note, trace) }
        steps.append("update \(code) \(kind == 1 ? "\(number ?? -1) \(hallName ?? "-")" : "")")
    }

    private func insert(_ code: String, _ given: Plain, _ unit: inout Unit) {
        let ticket = Ticket(code, number: given.number, hall: given.hall.map { Hall($0) }, note: given.note)
        context.insert(ticket)
        unit.made.append((ticket, code))
        var value = given
        value.hall = given.hall ?? unit.next[code]?.hall
        unit.next[code] = value
        unit.phases[code] = .inserted
        if let key = value.key {
            unit.isAmbiguous =
                unit.isAmbiguous
                || (Array(plain) + Array(unit.next)).contains { $0.key != code && $0.value.key == key }
        }
        steps.append("insert \(code) \(given.number ?? -1) \(given.hall ?? "-")")
    }

    /// Saves the changes or rolls them back.
    func end(_ unit: Unit) throws {
        let keys = unit.next.values.compactMap(\.key)
        if unit.isAmbiguous || Set(keys).count < keys.count || random.oneIn(8) {
            context.rollback()
            steps.append("rollback")
            return
        }
        do {
            try context.save()
            saveCount += 1
            plain = unit.next
            gone += unit.dropped
            held.removeAll { entry in unit.dropped.contains { $0 === entry.ticket } }
            held += unit.made
            steps.append("save")
        } catch let error as SwiftDataError where error == .modelValidationFailure {
            // Values that an upsert releases can be used only by later changes: an error is allowed, a wrong state is
            // not.
            context.rollback()
            steps.append("refused")
        }
    }

    /// Compares the store, and all objects that were ever held, with the plain values.
    ///
    /// - Returns: Whether the store agrees.
    func check() throws -> Bool {
        try store.verify()
        var found: [String: Plain] = [:]
        for ticket in try store.context().all(Ticket.self) {
            found[ticket.code] = Plain(number: ticket.number, hall: ticket.hall?.name, note: ticket.note)
        }
        #expect(found == plain, trace)
        for (ticket, code) in held {
            let read = Plain(number: ticket.number, hall: ticket.hall?.name, note: ticket.note)
            #expect(ticket.code == code && read == plain[code], trace)
            #expect(!ticket.isDeleted && !ticket.hasChanges, trace)
        }
        for ticket in gone { #expect(ticket.isDeleted && ticket.modelContext == nil, trace) }
        return found == plain
    }

    func reopenNowAndThen() throws {
        guard random.oneIn(8) else { return }
        held = []
        gone = []
        context = try store.reopened()
        steps.append("reopen")
    }
}
