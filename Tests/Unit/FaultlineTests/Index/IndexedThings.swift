import Faultline
import Foundation

/// The same entity twice: without indexes, and with indexes.
enum Plain {
    @Model final class Thing {
        var serial: Int
        var age: Int = 0
        var city: String = ""
        var name: String = ""
        var score: Double?
        var nick: String?
        var text: String = ""
        var owner: Owner?

        init(_ serial: Int) { self.serial = serial }
    }

    @Model final class Owner {
        @Attribute(.unique) var name: String
        @Relationship(inverse: \Thing.owner) var things: [Thing] = []

        init(_ name: String) { self.name = name }
    }
}

enum Indexed {
    @Model final class Thing {
        #Index<Thing>([\.age], [\.city, \.age], [\.name, \.score], [\.nick], [\.text], [\.owner, \.age])
        var serial: Int
        var age: Int = 0
        var city: String = ""
        var name: String = ""
        var score: Double?
        var nick: String?
        var text: String = ""
        var owner: Owner?

        init(_ serial: Int) { self.serial = serial }
    }

    @Model final class Owner {
        @Attribute(.unique) var name: String
        @Relationship(inverse: \Thing.owner) var things: [Thing] = []

        init(_ name: String) { self.name = name }
    }
}
