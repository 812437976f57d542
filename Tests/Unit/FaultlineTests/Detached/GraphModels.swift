import Faultline

/// Lives exactly as long as the state of the object whose ephemeral value it is.
final class Trace: Codable {
    init() {}
    init(from decoder: any Decoder) throws {}
    func encode(to encoder: any Encoder) throws {}
}

/// Traces that were given out.
final class Traces {
    private struct Place {
        weak var trace: Trace?
    }

    private var places: [Place] = []

    var count: Int { places.count }
    var livingCount: Int { places.count { $0.trace != nil } }

    func next() -> Trace {
        let trace = Trace()
        places.append(Place(trace: trace))
        return trace
    }
}

@Model final class Basket {
    var name: String
    @Attribute(.ephemeral) var trace: Trace?
    var outer: Basket?
    @Relationship(inverse: \Fruit.basket) var fruits: [Fruit] = []
    @Relationship(inverse: \Basket.outer) var inner: [Basket] = []
    @Relationship(inverse: \Lid.basket) var lid: Lid?
    @Relationship(inverse: \Tag.baskets) var tags: [Tag] = []
    @Relationship(inverse: \Clasp.basket) var clasp: Clasp?

    init(_ name: String, _ trace: Trace?) {
        self.name = name
        self.trace = trace
    }
}

@Model final class Fruit {
    var name: String
    @Attribute(.ephemeral) var trace: Trace?
    var basket: Basket?
    @Relationship(inverse: \Pip.fruit) var pips: [Pip] = []
    var weight: Int = 0

    init(_ name: String, _ trace: Trace?) {
        self.name = name
        self.trace = trace
    }

    init?(in basket: Basket, _ trace: Trace?, isRipe: Bool) {
        self.trace = trace
        self.basket = basket
        guard isRipe else { return nil }
        name = "ripe"
    }
}

@Model final class Pip {
    var fruit: Fruit?
    init() {}
}

@Model final class Lid {
    @Attribute(.ephemeral) var trace: Trace?
    var basket: Basket?
    init(_ trace: Trace?) { self.trace = trace }
}

@Model final class Tag {
    var name: String
    @Attribute(.ephemeral) var trace: Trace?
    var baskets: [Basket] = []

    init(_ name: String, _ trace: Trace?) {
        self.name = name
        self.trace = trace
    }
}

/// With a stored property of its own.
@Model final class Clasp {
    var basket: Basket?
    @Transient var scratch = 0
    init(_ basket: Basket) { self.basket = basket }
}

// One way, in a circle.

@Model final class Rock {
    @Attribute(.ephemeral) var trace: Trace?
    @Relationship var leaf: Leaf?
    init() {}
}

@Model final class Leaf {
    @Attribute(.ephemeral) var trace: Trace?
    @Relationship var scissors: Scissors?
    init() {}
}

@Model final class Scissors {
    @Attribute(.ephemeral) var trace: Trace?
    @Relationship var rock: Rock?
    @Relationship var rocks: [Rock] = []
    init() {}
}
