import Faultline
import Testing

struct DamageTextTests {
    @Test("A23: damage of a row names the entity")
    func entity() throws {
        let store = try ShelfStore()
        try store.rot(Data("volume-4-1".utf8), inFilesOf: "s-")
        let container = try ShelfStore.container(store.path)
        let error = #expect(throws: StorageError.self) {
            for volume in try ModelContext(container).fetch(FetchDescriptor<Volume>(sortBy: [SortDescriptor(\.title)]))
            {
                _ = volume.title
            }
        }
        #expect(error?.code == .damaged)
        #expect(error?.message.contains(" of Volume (table ") == true, "\(error?.message ?? "-")")
        #expect(error?.path != nil && error?.offset != nil)
        try container.close()
    }
}
