import Basics
import Testing
import Wire
import WireSupport

@Suite struct TopicConditionTests {
    private func read(_ text: String) throws(TopicConditionFault) -> TopicCondition {
        try TopicCondition(Array(text.utf8))
    }

    private func fault(_ text: String, operators: Int = Limits.Topic.conditionTests - 1)
        -> TopicConditionFault?
    {
        do {
            _ = try TopicCondition(Array(text.utf8), operators: operators)
            return nil
        } catch { return error }
    }

    /// The table in http 5.3; its last column is the result in C.
    @Test(
        "Conditions have the truth table of the specification",
        arguments: [
            ("'a' in topics && ('b' in topics || 'c' in topics)", "ab", true),
            ("'a' in topics && ('b' in topics || 'c' in topics)", "ac", true),
            ("'a' in topics && ('b' in topics || 'c' in topics)", "a", false),
            ("'a' in topics && ('b' in topics || 'c' in topics)", "bc", false),
            ("'a' in topics || 'b' in topics && 'c' in topics", "a", false),
            ("'a' in topics || 'b' in topics && 'c' in topics", "bc", true),
            ("'a' in topics && 'b' in topics || 'c' in topics", "c", true),
            ("!('a' in topics)", "", true),
            ("!('a' in topics)", "a", false),
            ("'a' in topics && !('b' in topics)", "a", true),
            ("'a' in topics && !('b' in topics)", "ab", false),
            ("!'a' in topics", "b", true),
            ("!'a' in topics || 'b' in topics", "ab", true),
            ("!'a' in topics || 'b' in topics", "a", false),
            ("'a' in topics && !('a' in topics)", "a", false),
        ])
    func table(_ text: String, _ topics: String, _ expected: Bool) throws {
        #expect(try read(text).holds(for: topics.map { Array(String($0).utf8) }) == expected)
    }

    @Test("Conditions equal an evaluated tree for every set of five topics")
    func everySet() throws {
        let text =
            "(!('a' in topics) || 'b' in topics && 'c' in topics) && !('d' in topics || !'e' in topics)"
        let condition = try read(text)
        #expect(condition.topics == ["a", "b", "c", "d", "e"].map { Array($0.utf8) })
        var held = 0
        for set in 0..<32 {
            let (a, b, c, d, e) = (set & 1 > 0, set & 2 > 0, set & 4 > 0, set & 8 > 0, set & 16 > 0)
            let expected = ((!a || b) && c) && !(d || !e)
            let topics = ["a", "b", "c", "d", "e"].enumerated().filter { set >> $0.offset & 1 == 1 }
            #expect(condition.holds(for: topics.map { Array($0.element.utf8) }) == expected)
            held += expected ? 1 : 0
        }
        #expect(held > 0 && held < 32, "canary: both values occur")
    }

    @Test("Whitespace and the case of words are ignored, the case of names is not")
    func spelling() throws {
        let condition = try read("\t'A'\r\nIN  Topics&&!( 'a' in tOPICS\n) ")
        #expect(condition.holds(for: [Array("A".utf8)]))
        #expect(!condition.holds(for: [Array("A".utf8), Array("a".utf8)]))
        #expect(try read("'a-_.~%Z9' in topics").topics == [Array("a-_.~%Z9".utf8)])
        #expect(try read("('a' in topics)") == read("'a' in topics"))
        #expect(try read("'a' in topics || 'a' in topics").topics.count == 1)
    }

    @Test(
        "Malformed conditions are refused",
        arguments: [
            "", " ", "a in topics", "'a'", "'a' in", "'a'in topics", "'a' intopics", "'a' in topic",
            "'a' in topicss", "\"a\" in topics", "'a' in topics &", "'a' in topics &&", "&& 'a' in topics",
            "'a' in topics & 'b' in topics", "'a' in topics 'b' in topics", "('a' in topics",
            "'a' in topics)", "()", "!", "!!'a' in topics", "! !('a' in topics)",
            "'a' in topics || || 'b' in topics",
            "'a in topics", "'a' in topics;", "'a' in topics\0", "/topics/a",
        ])
    func syntax(_ text: String) {
        #expect(fault(text) == .syntax)
    }

    @Test("Invalid topic names are refused")
    func names() {
        #expect(fault("'' in topics") == .name)
        #expect(fault("'a b' in topics") == .name)
        #expect(fault("'ä' in topics") == .name)
        #expect(fault("'/topics/a' in topics") == .name)
        let longest = String(repeating: "a", count: Limits.Topic.nameBytes)
        #expect(fault("'\(longest)' in topics") == nil)
        #expect(fault("'\(longest)a' in topics") == .name)
    }

    @Test("Tests, operators and parentheses are allowed up to their limits")
    func limits() {
        func tests(_ count: Int) -> String {
            (0..<count).map { "'t\($0)' in topics" }.joined(separator: " || ")
        }
        #expect(fault(tests(5)) == nil)
        #expect(fault(tests(6), operators: 9) == .tooManyTopics)
        #expect(fault(tests(6)) == .tooManyOperators)
        #expect(fault(tests(3), operators: 2) == nil)
        #expect(fault(tests(4), operators: 2) == .tooManyOperators)
        func nested(_ depth: Int) -> String {
            String(repeating: "(", count: depth) + "'a' in topics" + String(repeating: ")", count: depth)
        }
        #expect(fault(nested(Limits.Topic.conditionDepth)) == nil)
        #expect(fault(nested(Limits.Topic.conditionDepth + 1)) == .tooDeep)
        #expect(fault(String(repeating: "(", count: 60_000)) == .tooDeep)
        #expect(fault(String(repeating: "!(", count: 60_000)) == .tooDeep)
    }

    @Test("Random text is refused unless it is a valid condition")
    func noise() {
        let signs = [
            "'a'", " ", "in", "topics", "&&", "||", "!", "(", ")", "'", "x", "\u{0}", "'b' in topics",
        ]
        var random = SeededRandom(seed: 5)
        var read = 0
        for _ in 0..<20_000 {
            var text = ""
            for _ in 0..<Int(random.next() % 14) { text += signs[Int(random.next() % UInt64(signs.count))] }
            guard let condition = try? TopicCondition(Array(text.utf8)) else { continue }
            read += 1
            #expect((1...Limits.Topic.conditionTests).contains(condition.topics.count), "\(text)")
            #expect(text.filter { $0 == "(" }.count == text.filter { $0 == ")" }.count)
        }
        #expect(read > 50, "canary: some are valid conditions")
    }
}
