import ModelSimulation
import Testing

struct ShrinkingTests {
    @Test func `the remaining operations are all needed`() {
        let needed: Set<Int> = [3, 40, 41, 99]
        #expect(shrink(Array(0..<100)) { needed.isSubset(of: $0) } == needed.sorted())
        #expect(shrink(Array(0..<100)) { _ in true } == [99])
        #expect(shrink(Array(0..<100)) { $0.count > 60 }.count == 61)
    }

    @Test func `operations that are left out leave the others as they were`() {
        let all = ModelTrial(seed: 5).operationList
        #expect(ModelTrial(seed: 5, keeping: [3, 8, 400]).operationList == [all[3], all[8]])
        #expect(all.count == ModelOperation.countOfLife)
    }
}
