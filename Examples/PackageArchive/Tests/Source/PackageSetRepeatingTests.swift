import PackageArchive
import Testing

@Suite struct PackageSetRepeatingTests {
    static let text = """
        Package: a
        Version: 1
        Architecture: all
        Section: misc
        Depends: b, nothing

        Package: b
        Version: 1
        Architecture: all
        Section: misc
        Depends: a

        """

    @Test func repeatsUntilThereAreEnough() throws {
        let set = try StanzaTexts(status: Self.text).read()
        #expect(set.objectCount == 2 + 3 + 1 + 2)

        let larger = set.repeated(toAtLeast: 30)

        // Each repetition adds two packages, three relations and two sources; the section is shared.
        #expect(larger.repetitionCount == 5)
        #expect(larger.objectCount == 8 + 4 * 7)
        #expect(larger.packages.map(\.name).suffix(2) == ["a~5", "b~5"])
        #expect(Set(larger.packages.map(\.name)).count == 10)
        #expect(larger.relationTexts(of: "a~3") == ["Depends 0.0 b~3", "Depends 1.0 nothing~3"])
        #expect(larger.danglingCount == 5)
        for relation in larger.relations where !relation.isDangling {
            #expect(larger.packages[Int(relation.target)].name == relation.targetName)
        }
        for (place, package) in larger.packages.enumerated() {
            #expect(larger.relations[package.relations].allSatisfy { $0.owner == place })
        }
    }

    @Test func leavesEnoughAsItIs() throws {
        let set = try StanzaTexts(status: Self.text).read()

        #expect(set.repeated(toAtLeast: 8).repetitionCount == 1)
        #expect(set.repeated(toAtLeast: 9).repetitionCount == 2)
        #expect(PackageSet().repeated(toAtLeast: 9).packages.isEmpty)
    }
}
