internal import Faultline
internal import Foundation

/// An object of a serial life: a key that never changes, and numbers.
protocol SerialObject: PersistentModel {
    /// The order of keys.
    static var byKey: SortDescriptor<Self> { get }
    var key: Int { get }
    /// The key of the object that it refers to; 0 for none.
    var target: Int { get }
    func read(_ slot: Int) -> Int
    func set(_ slot: Int, to number: Int)
    func refer(to target: (any SerialObject)?)
    /// The keys of its members.
    var members: [Int] { get }
}

/// An entity of three properties.
///
/// Thousands of them are members of one hall.
@Model final class Slim {
    #Index<Slim>([\.key])
    var key: Int
    var number = 0
    var hall: Hall?
    init(_ key: Int) { self.key = key }
}

/// Has any number of members, whose references are cleared by a deletion.
@Model final class Hall {
    #Index<Hall>([\.key])
    var key: Int
    @Relationship(inverse: \Slim.hall) var slims: [Slim] = []
    init(_ key: Int) { self.key = key }
}

@Model final class Seat {
    #Index<Seat>([\.key])
    var key: Int
    var number = 0
    var bench: Bench?
    init(_ key: Int) { self.key = key }
}

/// Has at most three members, and cannot be deleted while it has one.
@Model final class Bench {
    #Index<Bench>([\.key])
    var key: Int
    @Relationship(deleteRule: .deny, maximumModelCount: 3, inverse: \Seat.bench) var seats: [Seat] = []
    init(_ key: Int) { self.key = key }
}

/// An entity that exists only in the newer schema.
@Model final class Later {
    var key: Int
    init(_ key: Int) { self.key = key }
}

extension Slim: SerialObject {
    static var byKey: SortDescriptor<Slim> { SortDescriptor(\.key) }
    var target: Int { hall?.key ?? 0 }
    func read(_ slot: Int) -> Int { number }
    func set(_ slot: Int, to number: Int) { self.number = number }
    func refer(to target: (any SerialObject)?) { hall = target as? Hall }
    var members: [Int] { [] }
}

extension Hall: SerialObject {
    static var byKey: SortDescriptor<Hall> { SortDescriptor(\.key) }
    var target: Int { 0 }
    func read(_ slot: Int) -> Int { 0 }
    func set(_ slot: Int, to number: Int) {}
    func refer(to target: (any SerialObject)?) {}
    var members: [Int] { slims.map(\.key) }
}

extension Seat: SerialObject {
    static var byKey: SortDescriptor<Seat> { SortDescriptor(\.key) }
    var target: Int { bench?.key ?? 0 }
    func read(_ slot: Int) -> Int { number }
    func set(_ slot: Int, to number: Int) { self.number = number }
    func refer(to target: (any SerialObject)?) { bench = target as? Bench }
    var members: [Int] { [] }
}

extension Bench: SerialObject {
    static var byKey: SortDescriptor<Bench> { SortDescriptor(\.key) }
    var target: Int { 0 }
    func read(_ slot: Int) -> Int { 0 }
    func set(_ slot: Int, to number: Int) {}
    func refer(to target: (any SerialObject)?) {}
    var members: [Int] { seats.map(\.key) }
}
