import Faultline
import FaultlineTesting
import Testing

/// Tests bounds on the loads of code.
@Suite struct FaultBudgetTests {
    @Model final class Owner {
        var name: String
        @Relationship(inverse: \Pet.owner) var pets: [Pet] = []
        init(_ name: String) { self.name = name }
    }

    @Model final class Pet {
        var name: String
        var picture: Data = Data()
        var owner: Owner?
        init(_ name: String) { self.name = name }
    }

    private struct Stop: Error {}

    @Test func codeThatLoadsTooMuchIsToldWhatWouldLoadLess() throws {
        let container = try ModelContainer(
            for: Owner.self, Pet.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let writing = ModelContext(container)
        for number in 0..<30 {
            let owner = Owner("o\(number)")
            writing.insert(owner)
            let pet = Pet("p\(number)")
            pet.picture = Data(repeating: 1, count: 5_000)
            owner.pets.append(pet)
            for other in 0..<20 { writing.insert(Owner("other \(other)")) }
        }
        try writing.save()
        let context = ModelContext(container)
        let names = { try context.fetch(FetchDescriptor<Pet>()).compactMap { $0.owner?.name } }
        let error = #expect(throws: FaultBudgetError.self) {
            try context.loading(atMost: FaultBudget(faults: 3, blobBytes: 0), names)
        }
        #expect(error?.loaded.blobBytesRead == 0 && (error?.loaded.faultsFired ?? 0) > 3)
        #expect(error?.description.contains("faults fired where 3 are allowed") == true)
        #expect(error?.description.contains("[\\.owner]") == true)

        context.reset()
        let prefetched = {
            var descriptor = FetchDescriptor<Pet>()
            descriptor.relationshipKeyPathsForPrefetching = [\.owner]
            return try context.fetch(descriptor).compactMap { $0.owner?.name }
        }
        #expect(try context.loading(atMost: FaultBudget(faults: 3, blobBytes: 0), prefetched).count == 30)
        let pictures = #expect(throws: FaultBudgetError.self) {
            try context.loading(atMost: FaultBudget(blobBytes: 9_999)) {
                for pet in try context.fetch(FetchDescriptor<Pet>()).prefix(2) { _ = pet.picture.count }
            }
        }
        #expect(pictures?.loaded.blobBytesRead == 10_000 && pictures?.budget.faults == nil)
        #expect(throws: Stop.self) { try context.loading(atMost: FaultBudget(faults: 0)) { throw Stop() } }
        #expect(context.faultAccount == nil)
    }
}
