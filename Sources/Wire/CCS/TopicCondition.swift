public import Basics

/// Why a condition was refused.
public enum TopicConditionFault: String, Error, Sendable {
    /// It is not of the grammar.
    case syntax = "it is no condition on topics"
    /// A name is none that a topic can have.
    case name = "the name of a topic has 1 to 900 of a-z A-Z 0-9 - _ . ~ %"
    /// It tests more than `Limits.Topic.conditionTests`.
    case tooManyTopics = "it tests more than 5 topics"
    /// It has more operators than are allowed here.
    case tooManyOperators = "it has more operators than are allowed"
    /// Its parentheses are nested deeper than `Limits.Topic.conditionDepth`.
    case tooDeep = "its parentheses are nested deeper than 16"
}

/// A condition on the topics of an app instance (http 5.3).
///
/// `&&` and `||` bind alike and count from left to right. Since it names so few topics, all that it says fits a table: for
/// each set of them whether it holds. The table is worked out while it is read, so that no tree is ever made.
public struct TopicCondition: Sendable, Equatable {
    /// The topics that it names, each once, in the order in which they come.
    public let topics: [[UInt8]]
    /// Bit n says whether it holds for the set whose members are the topics at the places of the ones in n.
    public let truth: UInt32

    /// Reads a condition; `operators` is how many `&&` and `||` it may have.
    public init(
        _ text: [UInt8], operators: Int = Limits.Topic.conditionTests - 1
    ) throws(TopicConditionFault) {
        var parser = ConditionParser(text: text, operatorsLeft: operators)
        truth = try parser.condition()
        topics = parser.topics
    }
}

/// Goes through a condition from left to right; what is worth a table is a table.
private struct ConditionParser {
    /// Where a topic is in the set: the columns of the table, by the topic's place.
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

    /// `expr`, and the blanks behind it.
    private mutating func expression(depth: Int) throws(TopicConditionFault) -> UInt32 {
        var value = try operand(depth: depth)
        while true {
            skipBlanks()
            let isAnd = take("&&")
            guard isAnd || take("||") else { return value }
            guard operatorsLeft > 0 else { throw .tooManyOperators }
            operatorsLeft -= 1
            skipBlanks()
            let right = try operand(depth: depth)
            value = isAnd ? value & right : value | right
        }
    }

    /// `unary`.
    private mutating func operand(depth: Int) throws(TopicConditionFault) -> UInt32 {
        let isNegated = take("!")
        if isNegated { skipBlanks() }
        let value = take("(") ? try group(depth: depth + 1) : try test()
        return isNegated ? ~value : value
    }

    /// What follows an opening parenthesis, up to its closing one.
    private mutating func group(depth: Int) throws(TopicConditionFault) -> UInt32 {
        guard depth <= Limits.Topic.conditionDepth else { throw .tooDeep }
        skipBlanks()
        let value = try expression(depth: depth)
        guard take(")") else { throw .syntax }
        return value
    }

    /// `'NAME' in topics`.
    private mutating func test() throws(TopicConditionFault) -> UInt32 {
        guard take("'") else { throw .syntax }
        guard let end = text[at...].firstIndex(of: UInt8(ascii: "'")) else { throw .syntax }
        let name = Array(text[at..<end])
        guard TopicCondition.isName(name) else { throw .name }
        at = end + 1
        for word in ["in", "topics"] as [StaticString] {
            guard skipBlanks(), takeWord(word) else { throw .syntax }
        }
        guard tests < Limits.Topic.conditionTests else { throw .tooManyTopics }
        tests += 1
        if let place = topics.firstIndex(of: name) { return Self.columns[place] }
        topics.append(name)
        return Self.columns[topics.count - 1]
    }

    /// Passes over blanks; whether there were any.
    @discardableResult
    private mutating func skipBlanks() -> Bool {
        let start = at
        while at < text.count, [0x20, 0x09, 0x0A, 0x0D].contains(text[at]) { at += 1 }
        return at > start
    }

    private mutating func take(_ sign: StaticString) -> Bool {
        let length = sign.utf8CodeUnitCount
        guard text.count - at >= length, text.raw.extracting(at..<at + length).equals(sign) else {
            return false
        }
        at += length
        return true
    }

    /// Takes a word of lower case letters, whatever case it is written in.
    private mutating func takeWord(_ word: StaticString) -> Bool {
        let length = word.utf8CodeUnitCount
        guard text.count - at >= length else { return false }
        let lower = text[at..<at + length].map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        guard lower.raw.equals(word) else { return false }
        at += length
        return true
    }
}

extension TopicCondition {
    /// Whether bytes can be the name of a topic (http 5.1).
    public static func isName(_ octets: [UInt8]) -> Bool {
        !octets.isEmpty && octets.count <= Limits.Topic.nameBytes
            && octets.allSatisfy { octet in
                switch octet {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"),
                    UInt8(ascii: "."), UInt8(ascii: "~"), UInt8(ascii: "%"):
                    true
                default: false
                }
            }
    }
}
