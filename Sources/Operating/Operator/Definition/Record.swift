public import Wire

/// A type with named fields: a command, an answer, or a part of one.
public protocol Record: Sendable {
    /// The fields of the type.
    static var fields: Fields<Self> { get }

    /// Throws `FieldProblem` if fields that are valid by themselves contradict each other.
    func check() throws(FieldProblem)
}

extension Record {
    public func check() throws(FieldProblem) {}

    /// Decodes a value. Unknown members are ignored, so that later versions can add fields to an answer.
    public init(json: JSONValue) throws(FieldProblem) {
        guard json.members != nil else { throw .invalid(json, isSecret: true, expected: "an object") }
        self = try Self.fields.decode(json)
        try check()
    }

    /// The encoded value.
    public var json: JSONValue { .object(Self.fields.members(of: self)) }
}
