import Testing

@testable import Catalogue

@Suite struct NearestNameTests {
    @Test(
        "distances count insertions, deletions, changes and swaps of neighbours",
        arguments: [
            ("", "", 0), ("a", "", 1), ("", "abc", 3), ("abc", "abc", 0), ("abc", "abd", 1),
            ("abc", "acb", 1),
            ("abc", "ab", 1), ("ca", "abc", 3), ("port", "prot", 1), ("kitten", "sitting", 3),
        ])
    func distances(a: String, b: String, expected: Int) {
        #expect(NearestName.distance(Array(a.utf8), Array(b.utf8)) == expected)
        #expect(NearestName.distance(Array(b.utf8), Array(a.utf8)) == expected)
    }

    @Test("a config key with any one letter missing is found")
    func keysWithoutALetter() {
        let names = ConfigKey.allCases.map(\.rawValue)
        for name in names where name.count > 4 {
            for at in name.indices {
                var wrong = name
                wrong.remove(at: at)
                #expect(NearestName.of(wrong, among: names) == name, "\(wrong)")
            }
        }
    }

    @Test("a text unlike all names has no nearest name")
    func farNames() {
        let names = ConfigKey.allCases.map(\.rawValue)
        #expect(NearestName.of("zzzzzz", among: names) == nil)
        #expect(NearestName.of("", among: names) == nil)
        #expect(NearestName.of(String(repeating: "x", count: 100_000), among: names) == nil)
    }

    @Test("canary: a swap does not cost two")
    func canary() { #expect(NearestName.distance(Array("ab".utf8), Array("ba".utf8)) != 2) }
}
