import Basics
public import Wire

/// An error of the operator API: a problem by RFC 9457, with the field that is wrong and what to do.
public struct APIProblem: Error, Sendable, Equatable {
    /// The status of the response.
    public var status: HTTPStatus
    /// What is wrong, without a full stop.
    public var detail: String
    /// What to do; may be empty.
    public var hint: String
    /// The argument that is wrong; `nil` if it is none.
    public var field: String?
    /// A header that belongs to the status.
    public var header: (name: StaticString, value: String)?

    /// Creates a problem.
    public init(_ status: HTTPStatus, _ detail: String, hint: String = "", field: String? = nil) {
        self.status = status
        self.detail = detail
        self.hint = hint
        self.field = field
    }

    /// The problem of a command that the daemon refuses, perhaps for an argument that only it can check.
    public init(_ problem: OperatorProblem) {
        self.init(
            problem.field == nil ? .conflict : .badRequest, problem.text, hint: problem.hint,
            field: problem.field)
    }

    /// The problem of an invalid argument.
    public init(_ problem: FieldProblem) {
        self.init(
            .badRequest, problem.text, hint: problem.hint, field: problem.path.isEmpty ? nil : problem.path)
    }

    public static func == (a: Self, b: Self) -> Bool {
        a.status == b.status && a.detail == b.detail && a.hint == b.hint && a.field == b.field
    }

    /// The content type of a problem.
    public static let contentType: StaticString = "application/problem+json"

    /// The body of the response.
    public var body: ProblemBody {
        ProblemBody(
            title: "\(status.phrase)", status: status.rawValue, detail: detail, hint: hint, field: field)
    }

    /// The response.
    public var response: HTTPResponse {
        HTTPResponse(status, Self.contentType, Array(body.json.compact.utf8), extra: header)
    }
}

/// The body of an error of the operator API.
public struct ProblemBody: Record {
    public var title: String
    public var status: Int
    public var detail: String
    public var hint: String
    public var field: String?

    /// Creates a body.
    public init(title: String, status: Int, detail: String, hint: String, field: String?) {
        self.title = title
        self.status = status
        self.detail = detail
        self.hint = hint
        self.field = field
    }

    public static let fields = Fields(
        ProblemBody.init(title:status:detail:hint:field:),
        .required("title", .text, \.title, "The meaning of the status."),
        .required("status", .count, \.status, "The status of the response."),
        .required("detail", .text, \.detail, "What is wrong."),
        .required("hint", .text, \.hint, "What to do; may be empty."),
        .optional("field", .text, \.field, "The argument that is wrong, if it is one."))
}
