internal import Faultline
internal import Foundation

/// An object with a unique name: its save's turn decides whether a new one is saved, replaces another or is left out.
@Model final class Named {
    #Index<Named>([\.key])
    var key: Int
    @Attribute(.unique) var name: Int
    init(_ key: Int, name: Int) {
        self.key = key
        self.name = name
    }
}

extension Named: SerialObject {
    static var byKey: SortDescriptor<Named> { SortDescriptor(\.key) }
    var target: Int { 0 }
    func read(_ slot: Int) -> Int { name }
    func set(_ slot: Int, to number: Int) {}
    func refer(to target: (any SerialObject)?) {}
    var members: [Int] { [] }
}
