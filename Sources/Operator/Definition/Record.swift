public import Wire

/// A value with named fields: a command, an answer, or a part of one.
public protocol Record: Sendable {
    /// Its fields.
    static var fields: Fields<Self> { get }

    /// Throws `FieldProblem` if fields that are right by themselves do not go together.
    func check() throws(FieldProblem)
}

extension Record {
    public func check() throws(FieldProblem) {}

    /// Reads a value; members that are no fields are left alone, so that an answer may grow.
    public init(json: JSONValue) throws(FieldProblem) {
        guard json.members != nil else { throw .invalid(json, isSecret: true, expected: "an object") }
        self = try Self.fields.decode(json)
        try check()
    }

    /// The value as it is written.
    public var json: JSONValue { .object(Self.fields.members(of: self)) }
}
