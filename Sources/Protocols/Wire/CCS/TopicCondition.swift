public import Basics

/// Why a condition was refused.
public enum TopicConditionFault: String, Error, Sendable {
    /// The text does not match the grammar.
    case syntax = "it is not a condition on topics"
    /// A quoted name is not a valid topic name.
    case name = "the name of a topic has 1 to 900 of a-z A-Z 0-9 - _ . ~ %"
    /// The condition tests more than `Limits.Topic.conditionTests` topics.
    case tooManyTopics = "it tests more than 5 topics"
    /// The condition has more operators than the caller allows.
    case tooManyOperators = "it has more operators than are allowed"
    /// The parentheses are nested deeper than `Limits.Topic.conditionDepth`.
    case tooDeep = "its parentheses are nested deeper than 16"
}

/// A boolean condition on the topics of an app instance (http 5.3).
///
/// `&&` and `||` have the same precedence and associate to the left. With at most five topics the whole condition fits a
/// truth table of 32 bits, which is computed while parsing, so that no tree is ever built.
public struct TopicCondition: Sendable, Equatable {
    /// The topics named, each once, in order of first appearance.
    public let topics: [[UInt8]]
    /// The truth table: bit n is set if the condition holds for the topics at the indices of the set bits of n.
    public let truth: UInt32

    /// Parses a condition with up to `operators` `&&` and `||`.
    public init(
        _ text: [UInt8], operators: Int = Limits.Topic.conditionTests - 1
    ) throws(TopicConditionFault) {
        var parser = ConditionParser(text: text, operatorsLeft: operators)
        truth = try parser.condition()
        topics = parser.topics
    }
}

/// A recursive-descent parser; every subexpression evaluates to its truth table.
private struct ConditionParser {
    /// The truth table of each topic by itself, by the index of the topic.
    private static let columns: [UInt32] = [
        0xAAAA_AAAA, 0xCCCC_CCCC, 0xF0F0_F0F0, 0xFF00_FF00, 0xFFFF_0000,
    ]

    let text: [UInt8]
    var operatorsLeft: Int
    private(set) var topics: [[UInt8]] = []
    private var at = 0
    private var tests = 0

    init(text: [UInt8], operatorsLeft: Int) {
        self.text = text
        self.operatorsLeft = operatorsLeft
    }

    mutating func condition() throws(TopicConditionFault) -> UInt32 {
        skipBlanks()
        let value = try expression(depth: 0)
        guard at == text.count else { throw .syntax }
        return value
    }

    /// Parses `expr` and the whitespace after it.
    private mutating func expression(depth: Int) throws(TopicConditionFault) -> UInt32 {
        var value = try operand(depth: depth)
        while true {
            skipBlanks()
            let isAnd = consume("&&")
            guard isAnd || consume("||") else { return value }
            guard operatorsLeft > 0 else { throw .tooManyOperators }
            operatorsLeft -= 1
            skipBlanks()
            let right = try operand(depth: depth)
            value = isAnd ? value & right : value | right
        }
    }

    /// Parses `unary`.
    private mutating func operand(depth: Int) throws(TopicConditionFault) -> UInt32 {
        let isNegated = consume("!")
        if isNegated { skipBlanks() }
        let value = consume("(") ? try group(depth: depth + 1) : try test()
        return isNegated ? ~value : value
    }

    /// Parses a group after its opening parenthesis, up to and with the closing one.
    private mutating func group(depth: Int) throws(TopicConditionFault) -> UInt32 {
        guard depth <= Limits.Topic.conditionDepth else { throw .tooDeep }
        skipBlanks()
        let value = try expression(depth: depth)
        guard consume(")") else { throw .syntax }
        return value
    }

    /// Parses `'NAME' in topics`.
    private mutating func test() throws(TopicConditionFault) -> UInt32 {
        guard consume("'") else { throw .syntax }
        guard let end = text[at...].firstIndex(of: UInt8(ascii: "'")) else { throw .syntax }
        let name = Array(text[at..<end])
        guard TopicCondition.isName(name) else { throw .name }
        at = end + 1
        for word in ["in", "topics"] as [StaticString] {
            guard skipBlanks(), consumeWord(word) else { throw .syntax }
        }
        guard tests < Limits.Topic.conditionTests else { throw .tooManyTopics }
        tests += 1
        if let place = topics.firstIndex(of: name) { return Self.columns[place] }
        topics.append(name)
        return Self.columns[topics.count - 1]
    }

    /// Skips whitespace. Returns whether there was any.
    @discardableResult
    private mutating func skipBlanks() -> Bool {
        let start = at
        while at < text.count, [0x20, 0x09, 0x0A, 0x0D].contains(text[at]) { at += 1 }
        return at > start
    }

    private mutating func consume(_ sign: StaticString) -> Bool {
        let length = sign.utf8CodeUnitCount
        guard text.count - at >= length, text.raw.extracting(at..<at + length).equals(sign) else {
            return false
        }
        at += length
        return true
    }

    /// Consumes a word, ignoring case; `word` is in lower case. Returns false if another text follows.
    private mutating func consumeWord(_ word: StaticString) -> Bool {
        let length = word.utf8CodeUnitCount
        guard text.count - at >= length else { return false }
        let lower = text[at..<at + length].map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        guard lower.raw.equals(word) else { return false }
        at += length
        return true
    }
}

extension TopicCondition {
    /// Whether the bytes are a valid topic name (http 5.1).
    public static func isName(_ bytes: [UInt8]) -> Bool {
        !bytes.isEmpty && bytes.count <= Limits.Topic.nameBytes
            && bytes.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"),
                    UInt8(ascii: "."), UInt8(ascii: "~"), UInt8(ascii: "%"):
                    true
                default: false
                }
            }
    }
}
