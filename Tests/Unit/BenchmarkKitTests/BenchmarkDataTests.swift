import BenchmarkKit
import Testing

/// The check values that every implementation of the workloads must reproduce.
@Suite struct BenchmarkDataTests {
    @Test func makesTheFirstTwoEmployees() {
        let maker = EmployeeMaker()

        let one = maker.employee(1)
        #expect(one.name == "mqtmwrnn lpvfubp")
        #expect(one.email == "5692161d100b05e5@ex.test")
        #expect(maker.email(1) == one.email)
        #expect(one.salary == 49943.45)
        #expect(one.hireDate == 37_234_821)
        #expect(one.isActive)
        #expect(one.level == 10)
        #expect(one.department == 22)
        #expect(one.notes.utf8.count == 80)

        let two = maker.employee(2)
        #expect(two.name == "fwibjqxl waivijk")
        #expect(two.email == "dbd238973a2b148a@ex.test")
        #expect(two.salary == 97305.12)
        #expect(two.hireDate == 561_597_248)
        #expect(two.isActive)
        #expect(two.level == 5)
        #expect(two.department == 2)
    }

    @Test func makesTheFirstHundredThousand() {
        let maker = EmployeeMaker()
        var sum = 0.0
        var matches = 0
        var members = 0
        var smallest = "~"
        for id in 1...100_000 {
            let employee = maker.employee(id)
            sum += employee.salary
            if employee.salary > 120_000 && employee.isActive { matches += 1 }
            if employee.department == 42 { members += 1 }
            smallest = min(smallest, employee.name)
        }

        #expect(ResultLine.rounded(sum, digits: 2) == "9005231012.08")
        #expect(matches == 21_966)
        #expect(members == 984)
        #expect(smallest == "aaaaiscd lpipajz")
    }

    @Test func knowsTheFirstFiftyNames() {
        let maker = EmployeeMaker()
        let all = (1...10_000).map { maker.employee($0).name }.sorted()

        #expect(FirstNames.expected(n: 10_000) == Array(all.prefix(50)))
        #expect(FirstNames.expected(n: 100_000).first == "aaaaiscd lpipajz")
        #expect(FirstNames.expected(n: 3) == (1...3).map { maker.employee($0).name }.sorted())
    }

    @Test func addsUpByDepartment() {
        let sums = DepartmentSums.salaries(n: 10_000)
        let first = EmployeeMaker().employee(1)

        #expect(abs(sums.reduce(0, +) - EmployeeSums(first: 10_000).salary) < 0.01)
        #expect(DepartmentSums.salaries(n: 1)[21] == first.salary)
        #expect(DepartmentSums.nameByteCount(of: [1, 2]) == "Department 22".utf8.count + "Department 2".utf8.count)
    }

    @Test func makesNotesOfTenWords() {
        let maker = EmployeeMaker()
        var source = SplitMix64(1 &* 0xD134_2543_DE82_EF95 &+ 0xFA01_71E5)
        for _ in 0..<5 { _ = source.draw() }

        let notes = maker.employee(1).notes

        #expect(notes == maker.notes(source.draw()))
        #expect(notes.split(separator: " ").count == 10)
        #expect(notes.hasSuffix(" "))
    }

    @Test func drawsIdsAndPermutations() {
        #expect(DrawnOrder.ids(count: 4, bound: 1_000_000, stream: 3) == [542_112, 246_064, 21413, 933_038])
        #expect(DrawnOrder.permutation(count: 10, stream: 0) == [8, 1, 9, 3, 6, 4, 10, 7, 5, 2])
        #expect(DrawnOrder.permutation(count: 1000, stream: 7).sorted() == Array(1...1000))
    }

    @Test func makesPhotos() {
        let photo = Photo.bytes(id: 1)

        #expect(photo.count == 102_400)
        #expect(photo.prefix(8).map { String($0, radix: 16) } == ["59", "6f", "14", "2c", "eb", "6e", "ce", "54"])
        #expect(photo.withUnsafeBytes(Photo.sum) == 0xE8B0_2C05_9110_C6F1)
    }

    @Test func addsUpFiveHundredPhotos() {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: Photo.byteCount, alignment: 8)
        defer { memory.deallocate() }
        var sum: UInt64 = 0
        for id in 1...500 {
            Photo.fill(memory, id: id)
            sum &+= Photo.sum(UnsafeRawBufferPointer(memory))
        }

        #expect(sum == 0xFE22_8584_EE06_6134)
    }

    @Test func addsUpBytesThatFillNoWord() {
        let bytes: [UInt8] = [1, 0, 0, 0, 0, 0, 0, 0, 2, 1]

        #expect(bytes.withUnsafeBytes(Photo.sum) == 1 + 0x0102)
    }
}
