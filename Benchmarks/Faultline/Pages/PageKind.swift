import BenchmarkKit

/// A kind of page of `faultline browse`, on a store of employees and departments.
struct PageKind: Sendable {
    let name: String
    /// The path of the next page behind the token.
    ///
    /// - Parameters:
    ///   - random: A generator.
    ///   - count: The number of employees.
    ///   - last: The text of the last page of this kind; empty before the first.
    let path: @Sendable (_ random: inout SplitMix64, _ count: Int, _ last: String) -> String

    private init(
        _ name: String, path: @escaping @Sendable (inout SplitMix64, _ count: Int, _ last: String) -> String
    ) {
        (self.name, self.path) = (name, path)
    }

    static let all: [PageKind] = [
        PageKind("overview") { _, _, _ in "" },
        PageKind("objects of an entity, one page after the other") { _, _, last in
            next(in: last) ?? "entity/Employee"
        },
        PageKind("objects in the order of a unique attribute") { _, _, last in
            next(in: last) ?? "entity/Employee?sort=email"
        },
        PageKind("objects where an index answers") { random, count, _ in
            "entity/Employee?p0=email&o0=eq&v0=" + email(&random, count)
        },
        PageKind("objects of one department") { random, _, _ in
            "entity/Employee?p0=department.name&o0=eq&v0=" + department(&random)
        },
        PageKind("departments of one employee") { random, count, _ in
            "entity/Department?p0=employees.email&o0=eq&v0=" + email(&random, count)
        },
        PageKind("objects where each row is read") { random, count, _ in
            "entity/Employee?p0=notes&o0=has&v0=" + EmployeeMaker().email(1 + random.draw(below: count))
        },
        PageKind("objects in an order without an index") { random, _, last in
            next(in: last) ?? "entity/Employee?p0=level&o0=ge&v0=\(random.draw(below: 3))&sort=salary&order=down"
        },
        PageKind("an object") { random, count, _ in "object/Employee/\(1 + random.draw(below: count))" },
        PageKind("an object with a hundredth of all") { random, _, _ in
            "object/Department/\(1 + random.draw(below: EmployeeStore.departmentCount))"
        },
        PageKind("members of a relationship, at any place") { random, count, _ in
            let department = 1 + random.draw(below: EmployeeStore.departmentCount)
            return "members/Department/\(department)/employees?from=\(random.draw(below: max(1, count / 200)))"
        },
        PageKind("history") { _, _, last in next(in: last) ?? "history" },
        PageKind("a save of 10,000 objects") { random, _, last in
            let saves = last.matches(of: #/\/transaction\/([0-9]+)"/#).map(\.output.1)
            return saves.isEmpty ? "history" : "transaction/\(saves[random.draw(below: saves.count)])"
        },
        PageKind("space") { _, _, _ in "space" },
    ]

    private static func email(_ random: inout SplitMix64, _ count: Int) -> String {
        EmployeeMaker().email(1 + random.draw(below: count))
    }

    private static func department(_ random: inout SplitMix64) -> String {
        EmployeeMaker.departmentName(1 + random.draw(below: EmployeeStore.departmentCount)).replacing(" ", with: "+")
    }

    /// The path of the next page that a page links to.
    private static func next(in text: String) -> String? {
        let link = text.firstMatch(of: #/rel="next"[^>]* href="\/[0-9a-z]+\/([^"]*)"/#)?.output.1
        return link.map { String($0).replacing("&amp;", with: "&") }
    }
}
