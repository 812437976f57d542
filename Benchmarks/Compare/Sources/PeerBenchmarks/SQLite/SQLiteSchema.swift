/// The tables and settings that both peers on SQLite share.
enum SQLiteSchema {
    static let statements = [
        "CREATE TABLE department (id INTEGER PRIMARY KEY, name TEXT NOT NULL)",
        """
        CREATE TABLE employee (
            id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL UNIQUE, salary DOUBLE NOT NULL,
            hireDate DOUBLE NOT NULL, active BOOLEAN NOT NULL, level INTEGER NOT NULL, notes TEXT NOT NULL,
            departmentId INTEGER NOT NULL REFERENCES department(id) ON DELETE CASCADE)
        """,
        "CREATE INDEX employee_departmentId ON employee(departmentId)",
        """
        CREATE TABLE photo (
            employeeId INTEGER PRIMARY KEY REFERENCES employee(id) ON DELETE CASCADE, photo BLOB NOT NULL)
        """,
    ]

    static let fileName = "employees.sqlite"
    static let wellPaidCount = "SELECT COUNT(*) FROM employee WHERE salary > 120000 AND active"
    static let nameIndex = "CREATE INDEX employee_name ON employee(name)"
    static let memberCount = "SELECT COUNT(*) FROM employee WHERE departmentId = ?"
}
