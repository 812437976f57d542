import Faultline
import Testing

struct OpenFileLimitTests {
    @Test func `the limit of open files belongs to the process`() {
        let usual = ModelContainer.openFileLimit
        #expect(usual >= 16)
        defer { ModelContainer.openFileLimit = usual }
        ModelContainer.openFileLimit = 300
        #expect(ModelContainer.openFileLimit == 300)
        // Fewer would close files that are read at the moment.
        ModelContainer.openFileLimit = 1
        #expect(ModelContainer.openFileLimit == 16)
        #expect(ModelContainer.openFileCount >= 0)
    }
}
