public import Wire

/// The method and path of an operation in the operator API, derived from its name and its fields.
///
/// `senders list` is `GET /operator/v1/senders`, `senders add` is `POST` there, `devices show` is `GET /operator/v1/devices/{device}`, and
/// what removes something is `DELETE` of such a path. Any other word is the last segment: `GET` if the operation only reads, else `POST`.
public struct OperatorRoute: Sendable {
    /// One part of the path, between two slashes.
    public enum Segment: Sendable, Equatable {
        case word(String)
        /// The value of a required field of the operation.
        case field(String)
    }

    /// The operation.
    public let operation: OperationDefinition
    /// `GET`, `POST` or `DELETE`.
    public let method: HTTPMethod
    /// The path after the prefix.
    public let segments: [Segment]

    /// The beginning of every path.
    public static let prefix = "/operator/v1"

    /// The routes of all operations.
    public static let all = Operations.all.map { OperatorRoute($0.definition) }

    /// Derives the route of an operation.
    public init(_ operation: OperationDefinition) {
        self.operation = operation
        let words = operation.summary.name.split(separator: " ").map(String.init)
        let isChanging = operation.summary.isChanging
        let collection = words[0]
        guard words.count == 2 else {
            method = isChanging ? .post : .get
            segments = words.map { .word($0) }
            return
        }
        let fields = Self.pathFields(operation, of: collection).map { Segment.field($0.name) }
        switch words[1] {
        case "list": (method, segments) = (.get, [.word(collection)])
        case "add": (method, segments) = (.post, [.word(collection)])
        case "show": (method, segments) = (.get, [.word(collection)] + fields)
        case "remove", "forget", "revoke": (method, segments) = (.delete, [.word(collection)] + fields)
        default:
            method = isChanging ? .post : .get
            segments = [.word(collection)] + fields + [.word(words[1])]
        }
    }

    /// The required fields that name one thing of the collection; a sender is in the path only where senders, their accounts and their
    /// recorders are.
    private static func pathFields(
        _ operation: OperationDefinition, of collection: String
    ) -> [FieldDescription] {
        operation.arguments.filter { field in
            // There is one clock only.
            guard field.presence == .required, collection != "clock" else { return false }
            switch field.form {
            case .list, .object, .record: return false
            case .boolean, .integer, .text, .word, .number, .named, .time:
                return field.name != "sender_id"
                    || ["senders", "service-accounts", "recorders"].contains(collection)
            }
        }
    }

    /// The names of the fields in the path.
    public var pathFields: [String] {
        segments.compactMap { if case .field(let name) = $0 { name } else { nil } }
    }

    /// The fields that are not in the path: in the query of `GET` and `DELETE`, in the body of `POST`.
    public var otherFields: [FieldDescription] {
        operation.arguments.filter { !pathFields.contains($0.name) }
    }

    /// The whole path, with the fields in braces.
    public var path: String {
        segments.reduce(Self.prefix) { path, segment in
            switch segment {
            case .word(let word): "\(path)/\(word)"
            case .field(let name): "\(path)/{\(name)}"
            }
        }
    }

    /// Whether the operation sends lines before its answer, so that its answer is always a stream of events.
    public var isStream: Bool { !operation.lines.isEmpty }

    /// Returns the values of the fields in a path. Returns `nil` if the path is another one.
    func values(in parts: [String]) -> [JSONValue.Member]? {
        guard parts.count == segments.count else { return nil }
        var values: [JSONValue.Member] = []
        for (part, segment) in zip(parts, segments) {
            switch segment {
            case .word(let word): guard part == word else { return nil }
            case .field(let name):
                guard !part.isEmpty else { return nil }
                values.append(.init(name, .string(part)))
            }
        }
        return values
    }
}
