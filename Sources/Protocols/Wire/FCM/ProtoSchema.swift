/// The schema of a protocol buffers message in its JSON mapping: its fields and their types (http 8.1).
struct ProtoMessage: Sendable {
    /// The full name, used in errors.
    let name: StaticString
    let fields: [ProtoField]

    init(_ name: StaticString, _ fields: [ProtoField]) {
        self.name = name
        self.fields = fields
    }
}

/// A field of a message.
struct ProtoField: Sendable {
    /// The name in snake case; camel case is accepted as well.
    let name: StaticString
    let form: ProtoFieldType
    /// The `oneof` group; only one field of a group may be set.
    let group: StaticString?

    init(_ name: StaticString, _ form: ProtoFieldType, group: StaticString? = nil) {
        self.name = name
        self.form = form
        self.group = group
    }
}

/// The type of a field's value.
indirect enum ProtoFieldType: Sendable {
    case string
    case boolean
    /// A 32-bit integer, as a number or as a string.
    case int32
    /// Any number, also as a string.
    case float
    /// Seconds with up to nine decimals and an `s`.
    case duration
    /// An RFC 3339 time.
    case timestamp
    /// A word of an enumeration, or its number.
    case enumeration(ProtoEnumeration)
    case message(ProtoMessage)
    /// An array.
    case repeated(ProtoFieldType)
    /// An object with any keys, whose values are strings.
    case map
    /// Any object.
    case free

    /// The type's name in errors.
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
        case .repeated(let form): form.typeName
        case .free: "type.googleapis.com/google.protobuf.Struct"
        }
    }
}

/// The words of an enumeration, by number.
struct ProtoEnumeration: Sendable {
    /// The full name, used in errors.
    let name: StaticString
    /// The words in upper case; the index of a word is its number.
    let words: [StaticString]
}

/// Why a document does not match the schema of its message.
public struct ProtoFault: Error, Sendable, Equatable {
    /// The type of fault.
    enum Kind: Sendable, Equatable {
        /// The message has no field of this name.
        case unknown(String)
        /// The value is not of the field's type; `found` is the value as JSON.
        case value(type: String, found: String)
        /// Another field of the same `oneof` group is already set.
        case group(String, member: String)
    }

    let kind: Kind
    /// The path to the fault, outermost step last.
    private var steps: [String] = []

    init(_ kind: Kind) { self.kind = kind }

    /// Returns the fault with `step` prepended to its path.
    func inside(_ step: String) -> ProtoFault {
        var outer = self
        outer.steps.append(step)
        return outer
    }

    /// The path to the fault, such as `message.data[0].value`; empty for the document itself.
    public var field: String {
        var path = ""
        for step in steps.reversed() { path += path.isEmpty || step.hasPrefix("[") ? step : ".\(step)" }
        return path
    }

    /// The error text of the real service (http 8.1, 8.5).
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
