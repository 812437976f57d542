import Faultline

@Model final class Firm {
    var name: String
    var limit = 0
    var parent: Firm?
    @Relationship(inverse: \Firm.parent) var children: [Firm] = []
    @Relationship(inverse: \FirmGuest.firm) var guests: [FirmGuest]? = []

    init(_ name: String, limit: Int, parent: Firm?) {
        self.name = name
        self.limit = limit
        self.parent = parent
    }
}

@Model final class FirmGuest {
    var name: String
    var firm: Firm?
    @Attribute(.transformable(by: Doubling.self)) var bytes: Data = Data()

    init(_ name: String, _ firm: Firm?) {
        self.name = name
        self.firm = firm
    }
}
