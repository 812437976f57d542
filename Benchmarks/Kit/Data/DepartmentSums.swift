/// The expected sums of reads along relationships.
package enum DepartmentSums {
    /// - Parameter n: Employees in the store.
    /// - Returns: The salaries of each department, by number less one, added in the order of creation.
    package static func salaries(n: Int) -> [Double] {
        let maker = EmployeeMaker()
        var sums = [Double](repeating: 0, count: 100)
        for id in 1...max(n, 1) where id <= n {
            let employee = maker.employee(id)
            sums[employee.department - 1] += employee.salary
        }
        return sums
    }

    /// Bytes of the names of these employees' departments.
    package static func nameByteCount(of ids: [Int]) -> Int {
        let maker = EmployeeMaker()
        return ids.reduce(0) { $0 + EmployeeMaker.departmentName(maker.employee($1).department).utf8.count }
    }
}
