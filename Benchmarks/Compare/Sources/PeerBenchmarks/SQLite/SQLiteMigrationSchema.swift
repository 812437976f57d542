/// The statements of the migrations that both peers on SQLite share: those that SQLite's manual recommends for changing
/// a table.
enum SQLiteMigrationSchema {
    private static let common = """
        email TEXT NOT NULL UNIQUE, salary DOUBLE NOT NULL, hireDate DOUBLE NOT NULL, active BOOLEAN NOT NULL
        """
    private static let department = "departmentId INTEGER NOT NULL REFERENCES department(id) ON DELETE CASCADE"

    static let splitTable = """
        CREATE TABLE new_employee (
            id INTEGER PRIMARY KEY, firstName TEXT NOT NULL, lastName TEXT NOT NULL, \(common), level INTEGER NOT NULL,
            notes TEXT NOT NULL, \(department))
        """
    static let allEmployees =
        "SELECT id, name, email, salary, hireDate, active, level, notes, departmentId FROM employee"
    static let insertSplit = "INSERT INTO new_employee VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"

    static let gradedTable = """
        CREATE TABLE new_employee (
            id INTEGER PRIMARY KEY, name TEXT NOT NULL, \(common), grade INTEGER NOT NULL, notes TEXT NOT NULL,
            bonus DOUBLE NOT NULL DEFAULT 0, \(department))
        """
    static let copyGraded = """
        INSERT INTO new_employee SELECT id, name, email, salary, hireDate, active, level, notes, 0, departmentId
        FROM employee
        """

    static let levels = "SELECT level, salary FROM employee"
    static let teamTable =
        "CREATE TABLE team (level INTEGER PRIMARY KEY, salaries DOUBLE NOT NULL, count INTEGER NOT NULL)"
    static let insertTeam = "INSERT INTO team VALUES (?, ?, ?)"
    static let dropForTeams = ["DROP TABLE photo", "DROP TABLE employee", "DROP TABLE department"]

    private static let wholeTable = """
        (id INTEGER PRIMARY KEY, name TEXT NOT NULL, \(common), level INTEGER NOT NULL, notes TEXT NOT NULL,
            \(department)
        """
    /// The tables with the photo as the last column of the employees.
    static let keptPhotos = [
        SQLiteSchema.statements[0], "CREATE TABLE employee \(wholeTable), photo BLOB NOT NULL)",
        "CREATE INDEX employee_departmentId ON employee(departmentId)",
    ]
    static let insertKept = """
        INSERT INTO employee (name, email, salary, hireDate, active, level, notes, departmentId, photo)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
        """
    static let photoTable = SQLiteSchema.statements[3]
    static let keptBytes = "SELECT id, photo FROM employee"
    static let insertPhoto = "INSERT INTO photo (employeeId, photo) VALUES (?, ?)"
    static let copyPhotos = "INSERT INTO photo \(keptBytes)"
    static let plainTable = "CREATE TABLE new_employee \(wholeTable))"
    static let copyPlain = "INSERT INTO new_employee \(allEmployees)"

    /// Puts the new table in the place of the old one, with its index.
    static let exchange = [
        "DROP TABLE employee", "ALTER TABLE new_employee RENAME TO employee",
        "CREATE INDEX employee_departmentId ON employee(departmentId)",
    ]
}
