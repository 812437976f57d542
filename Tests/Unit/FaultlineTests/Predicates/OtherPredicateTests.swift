import Faultline
import Testing

/// Foundation's macros serve all types but models.
@Suite struct OtherPredicateTests {
    private struct Point {
        var x = 0
        var name: String? = nil
    }

    private protocol Named {
        var name: String { get }
    }

    private struct Thing: Named { let name: String }

    @Test func `plain types, several inputs and protocols`() throws {
        let limit = 3
        let plain = #Predicate<Point> { $0.x > limit && $0.name == "a" }
        #expect(try plain.evaluate(Point(x: 4, name: "a")) && !plain.evaluate(Point(x: 4)))
        let fromContext: Predicate<Point> = #Predicate { $0.x > limit }
        #expect(try fromContext.evaluate(Point(x: 4)))
        let two = #Predicate<Point, Int> { $0.x == $1 }
        #expect(try two.evaluate(Point(x: 4), 4) && !two.evaluate(Point(x: 4), 5))
        let named = #Predicate<any Named> { $0.name == "a" }
        #expect(try named.evaluate(Thing(name: "a")))
        let sum = #Expression<Point, Int> { $0.x + limit }
        #expect(try sum.evaluate(Point(x: 4)) == 7)
    }

    @Test func `two models`() throws {
        let older = #Predicate<User, User> { $0.age > $1.age && $0.email != $1.email }
        let (one, two) = (User("a", age: 2), User("b", age: 1))
        #expect(try older.evaluate(one, two) && !older.evaluate(two, one))
        let named = #Predicate<User, Team> { user, team in team.users.contains { $0.age == user.age } }
        let team = Team("t")
        team.users = [one]
        #expect(try named.evaluate(one, team) && !named.evaluate(two, team))
    }

    private func everything<T: PersistentModel>(of type: T.Type) -> Predicate<T> { #Predicate { _ in true } }

    @Test func `a generic function, and an optional parameter`() throws {
        #expect(try everything(of: User.self).evaluate(User("a")))
        func isNil(_ predicate: Predicate<User>?) -> Bool { predicate == nil }
        #expect(!isNil(#Predicate { $0.age > 1 }) && !isNil(#Predicate<User> { $0.age > 1 }))
    }
}
