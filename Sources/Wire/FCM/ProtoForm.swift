/// The form of a protocol buffers message as JSON carries it: which members it may have, and of which kinds (http 8.1).
struct ProtoMessage: Sendable {
    /// Its full name, as errors tell it.
    let name: StaticString
    let fields: [ProtoField]

    init(_ name: StaticString, _ fields: [ProtoField]) {
        self.name = name
        self.fields = fields
    }
}

/// One member of a message.
struct ProtoField: Sendable {
    /// Its name in snake case; camel case is taken as well.
    let name: StaticString
    let form: ProtoForm
    /// The name of the group of which only one may be set.
    let group: StaticString?

    init(_ name: StaticString, _ form: ProtoForm, group: StaticString? = nil) {
        self.name = name
        self.form = form
        self.group = group
    }
}

/// What the value of a member must be.
indirect enum ProtoForm: Sendable {
    case string
    case boolean
    /// A whole number of 32 bits, as a number or as text.
    case int32
    /// Any number, also as text.
    case float
    /// Seconds with up to nine decimals and an `s`.
    case duration
    /// A time of RFC 3339.
    case timestamp
    /// One of several words, or its number.
    case enumeration(ProtoEnumeration)
    case message(ProtoMessage)
    /// An array.
    case several(ProtoForm)
    /// An object with any keys, whose values are strings.
    case map
    /// Any object.
    case free

    /// The word for it in errors.
    var typeName: String {
        switch self {
        case .string, .map: "TYPE_STRING"
        case .boolean: "TYPE_BOOL"
        case .int32: "TYPE_INT32"
        case .float: "TYPE_FLOAT"
        case .duration: "type.googleapis.com/google.protobuf.Duration"
        case .timestamp: "type.googleapis.com/google.protobuf.Timestamp"
        case .enumeration(let enumeration): "type.googleapis.com/\(enumeration.name)"
        case .message(let message): "type.googleapis.com/\(message.name)"
        case .several(let form): form.typeName
        case .free: "type.googleapis.com/google.protobuf.Struct"
        }
    }
}

/// The words of an enumeration, by number.
struct ProtoEnumeration: Sendable {
    /// Its full name, as errors tell it.
    let name: StaticString
    /// The words in upper case; the place is the number.
    let words: [StaticString]
}

/// Why a document has not the form of its message.
public struct ProtoFault: Error, Sendable, Equatable {
    /// What is wrong.
    enum Kind: Sendable, Equatable {
        /// There is no such member.
        case unknown(String)
        /// The value is none of its type; what was found, as JSON or in words.
        case value(type: String, found: String)
        /// Another member of the same group is set already.
        case group(String, member: String)
    }

    let kind: Kind
    /// The members that lead to it, the outermost last.
    private var steps: [String] = []

    init(_ kind: Kind) { self.kind = kind }

    /// The same, seen from the message round it.
    func inside(_ step: String) -> ProtoFault {
        var outer = self
        outer.steps.append(step)
        return outer
    }

    /// The path of what is wrong: `message.data[0].value`; empty for the document itself.
    public var field: String {
        var path = ""
        for step in steps.reversed() { path += path.isEmpty || step.hasPrefix("[") ? step : ".\(step)" }
        return path
    }

    /// What the real service says (http 8.1, 8.5).
    public var text: String {
        switch kind {
        case .unknown(let name):
            "Invalid JSON payload received. Unknown name \"\(name)\""
                + (field.isEmpty ? "" : " at '\(field)'")
                + ": Cannot find field."
        case .value(let type, let found): "Invalid value at '\(field)' (\(type)), \(found)"
        case .group(let group, let member):
            "Invalid value at '\(field)' (oneof), oneof field '\(group)' is already set. Cannot set '\(member)'"
        }
    }
}
