import Wire

/// A word with the number of its occurrences.
public struct WordCount: Sendable, Equatable {
    public var word: String
    public var count: Int

    /// Creates a count.
    public init(_ word: String, _ count: Int) {
        self.word = word
        self.count = count
    }
}

extension FieldKind where Value == [WordCount] {
    /// Counts by word: an object whose keys are not fixed, in its order.
    static var counts: FieldKind {
        FieldKind(
            .object("an object of whole numbers"),
            decode: { (value) throws(FieldProblem) -> [WordCount] in
                var counts: [WordCount] = []
                for member in try value.pairs(expected: "an object of whole numbers") {
                    do throws(FieldProblem) {
                        counts.append(WordCount(member.key, try FieldKind<Int>.count.decode(member.value)))
                    } catch { throw error.inside(member.key) }
                }
                return counts
            }, encode: { .object($0.map { .init($0.word, .integer($0.count)) }) })
    }
}

extension FieldKind where Value == [JSONValue.Member] {
    /// An object with arbitrary members, which are passed on unchanged.
    static var pairs: FieldKind {
        FieldKind(
            .object("an object of keys and values"), "KEY=VALUE",
            decode: { (value) throws(FieldProblem) -> [JSONValue.Member] in
                try value.pairs(expected: "an object of keys and values")
            }, encode: { .object($0) })
    }
}

extension JSONValue {
    fileprivate func pairs(expected: String) throws(FieldProblem) -> [Member] {
        guard let members else { throw .invalid(self, isSecret: false, expected: expected) }
        return members
    }
}

extension FieldKind {
    /// An array of values of one kind.
    public static func list<Element>(_ element: FieldKind<Element>) -> FieldKind where Value == [Element] {
        FieldKind(
            .list(element.form), isSecret: element.isSecret,
            decode: { (value) throws(FieldProblem) -> [Element] in
                guard let elements = value.elements else {
                    throw .invalid(value, isSecret: true, expected: "an array")
                }
                var decoded: [Element] = []
                decoded.reserveCapacity(elements.count)
                for (position, value) in elements.enumerated() {
                    do throws(FieldProblem) { decoded.append(try element.decode(value)) } catch {
                        throw error.inside("[\(position)]")
                    }
                }
                return decoded
            }, encode: { .array($0.map(element.encode)) })
    }
}

extension FieldKind where Value: Record {
    /// An object with fields of its own.
    public static var record: FieldKind {
        FieldKind(
            .record(Value.fields.descriptions),
            decode: { (value) throws(FieldProblem) -> Value in try Value(json: value) },
            encode: { $0.json })
    }
}
