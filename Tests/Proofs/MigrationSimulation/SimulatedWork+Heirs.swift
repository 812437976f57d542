internal import Faultline
internal import FaultlineLog
internal import FaultlineStore
internal import Foundation

extension SimulatedWork {
    private static let travellerCount = 2

    /// Business trips have codes of their own, the others share two.
    private func code(of number: Int) -> Int { number % 3 == 1 ? number : number % 2 }

    func makeHeirs(in context: ModelContext) throws {
        let travellers = (0..<Self.travellerCount).map { SimulatedHeirs1.Traveller(number: $0) }
        for traveller in travellers { context.insert(traveller) }
        for number in 0..<count {
            let trip =
                switch number % 3 {
                case 0: SimulatedHeirs1.Trip(number: number)
                case 1: SimulatedHeirs1.BusinessTrip(number: number, company: town(number))
                default: SimulatedHeirs1.PrivateTrip(number: number, mood: "m\(number)")
                }
            trip.code = code(of: number)
            trip.photo = oldPhoto(number)
            trip.traveller = travellers[number % Self.travellerCount]
            context.insert(trip)
        }
        try context.save()
    }

    /// The difference from the expected old state of the hierarchy; nil if there is none.
    func oldHeirFault(_ context: ModelContext) throws -> String? {
        let trips = try context.fetch(FetchDescriptor<SimulatedHeirs1.Trip>(sortBy: [SortDescriptor(\.number)]))
        guard trips.map(\.number) == Array(0..<count) else { return "old trips \(trips.map(\.number))" }
        for (number, trip) in trips.enumerated() {
            let isOfClass =
                switch number % 3 {
                case 0: type(of: trip) == SimulatedHeirs1.Trip.self
                case 1: (trip as? SimulatedHeirs1.BusinessTrip)?.company == town(number)
                default: (trip as? SimulatedHeirs1.PrivateTrip)?.mood == "m\(number)"
                }
            guard isOfClass, trip.name == "trip \(number)", trip.code == code(of: number),
                trip.photo == oldPhoto(number), trip.traveller?.number == number % Self.travellerCount
            else { return "old trip \(number) is another" }
        }
        return try countFault(context, of: SimulatedHeirs1.BusinessTrip.self, SimulatedHeirs1.PrivateTrip.self)
    }

    /// The difference from the expected new state of the hierarchy; nil if there is none.
    func newHeirFault(_ context: ModelContext) throws -> String? {
        let trips = try context.fetch(FetchDescriptor<SimulatedHeirs2.Trip>(sortBy: [SortDescriptor(\.number)]))
        guard trips.map(\.number) == Array(0..<count) else { return "new trips \(trips.map(\.number))" }
        for (number, trip) in trips.enumerated() {
            let isOfClass =
                switch trip {
                case let trip as SimulatedHeirs2.BusinessTrip:
                    number % 3 == 1 && trip.company == town(number) && trip.stars == 3 && trip.approval == nil
                case is SimulatedHeirs2.PrivateTrip: number % 3 == 2
                default: number % 3 == 0 && type(of: trip) == SimulatedHeirs2.Trip.self
                }
            guard isOfClass, trip.mood == (number % 3 == 2 ? "m\(number)" : "none"), trip.name == "trip \(number)",
                trip.code == code(of: number), trip.photo == oldPhoto(number),
                trip.traveller?.number == number % Self.travellerCount
            else { return "new trip \(number) is another" }
        }
        let managed = try context.fetchCount(FetchDescriptor<SimulatedHeirs2.ManagedTrip>())
        guard managed == (0..<count).count(where: { $0 % 3 == 1 }) else { return "\(managed) managed trips" }
        for traveller in try context.fetch(FetchDescriptor<SimulatedHeirs2.Traveller>()) {
            let expected = (0..<count).filter { $0 % Self.travellerCount == traveller.number }
            guard traveller.trips.map(\.number) == expected else { return "trips of traveller \(traveller.number)" }
        }
        return try countFault(context, of: SimulatedHeirs2.BusinessTrip.self, SimulatedHeirs2.PrivateTrip.self)
    }

    private func countFault<B: PersistentModel, P: PersistentModel>(
        _ context: ModelContext, of business: B.Type, _ own: P.Type
    ) throws -> String? {
        let counts = try [context.fetchCount(FetchDescriptor<B>()), context.fetchCount(FetchDescriptor<P>())]
        guard counts == [1, 2].map({ rest in (0..<count).count { $0 % 3 == rest } }) else { return "\(counts) trips" }
        let blobs = context.container.rowStore.log.snapshot().recordCount(of: .blobs)
        return blobs == (0..<count).count { oldPhoto($0) != nil } ? nil : "\(blobs) blobs of trips"
    }
}
