/// The sums of employees' values: the expected sums of a workload's reads.
package struct EmployeeSums: Sendable, Equatable {
    package var count = 0
    /// Added in the order of creation.
    package var salary = 0.0
    package var hireDate = 0.0
    package var level = 0
    package var activeCount = 0
    /// Bytes of name, e-mail address and notes.
    package var byteCount = 0
    /// Active, with a salary above 120,000.
    package var wellPaidCount = 0
    /// In department 42.
    package var departmentCount = 0

    package init() {}

    /// Adds up employees 1 to `count`.
    package init(first count: Int) {
        let maker = EmployeeMaker()
        for id in 1...max(count, 1) where id <= count { add(maker.employee(id)) }
    }

    /// Adds up the employees of these numbers, in their order.
    package init(of ids: [Int]) {
        let maker = EmployeeMaker()
        for id in ids { add(maker.employee(id)) }
    }

    @inline(__always)
    package mutating func add(
        salary: Double,
        hireDate: Double,
        level: Int,
        isActive: Bool,
        byteCount: Int,
        isInDepartment42: Bool
    ) {
        count += 1
        self.salary += salary
        self.hireDate += hireDate
        self.level += level
        activeCount += isActive ? 1 : 0
        self.byteCount += byteCount
        wellPaidCount += isActive && salary > 120_000 ? 1 : 0
        departmentCount += isInDepartment42 ? 1 : 0
    }

    private mutating func add(_ values: EmployeeValues) {
        add(
            salary: values.salary,
            hireDate: values.hireDate,
            level: values.level,
            isActive: values.isActive,
            byteCount: 120,
            isInDepartment42: values.department == 42
        )
    }
}
