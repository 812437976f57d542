/// The first fifty names of a store's employees, in order: the expected result of `w5-sort`.
package enum FirstNames {
    package static let count = 50

    /// - Parameter n: Employees in the store.
    /// - Returns: At most fifty names, in the order of their bytes. Holds a few hundred names at a time.
    package static func expected(n: Int) -> [String] {
        let maker = EmployeeMaker()
        var names: [String] = []
        for id in 1...max(n, 1) where id <= n {
            let name = maker.employee(id).name
            names.append(name)
            if names.count >= 4 * count { shorten(&names) }
        }
        shorten(&names)
        return names
    }

    private static func shorten(_ names: inout [String]) {
        names.sort()
        names.removeLast(max(0, names.count - count))
    }
}
