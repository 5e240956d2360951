import Basics
public import Wire

/// The progress of a long command.
public struct OperatorProgress: Record, Equatable {
    public var done: Int
    public var total: Int
    /// The unit of the steps, such as `sessions drained`.
    public var what: String

    /// Creates a progress report.
    public init(done: Int, total: Int, what: String) {
        self.done = done
        self.total = total
        self.what = what
    }

    public static let fields = Fields(
        OperatorProgress.init(done:total:what:),
        .required("done", .whole, \.done, "Steps done."),
        .required("total", .whole, \.total, "All steps."),
        .required("what", .text, \.what, "The unit of the steps."))
}

/// One line of the reply to a request: any number of lines and progress reports, then a result or a problem.
public enum OperatorReply: Sendable, Equatable {
    /// A progress report: `{"progress":{"done":1,"total":3,"what":"sessions drained"}}`.
    case progress(OperatorProgress)
    /// A line that a command sends before its answer: `{"trace":{…}}`.
    case line(name: String, JSONValue)
    /// The answer: `{"ok":true,"result":{…}}`.
    case result(JSONValue)
    /// The command failed: `{"ok":false,"error":"…","hint":"…"}`.
    case problem(OperatorProblem)

    /// Why a line is not a valid reply.
    public enum ReadingProblem: Error, Sendable, Equatable {
        case notJSON
        case unknownForm
        case progress(FieldProblem)
    }

    private enum Key {
        static let progress = "progress"
        static let ok = "ok"
        static let result = "result"
        static let error = "error"
        static let hint = "hint"
    }

    /// Decodes a line, without its newline.
    public init(parsing line: RawSpan) throws(ReadingProblem) {
        let json: JSONValue
        do throws(JSONError) { json = try JSONValue(parsing: line) } catch { throw .notJSON }
        if let progress = json[Key.progress] {
            do throws(FieldProblem) { self = .progress(try OperatorProgress(json: progress)) } catch {
                throw .progress(error.inside(Key.progress))
            }
        } else if let isDone = json[Key.ok]?.boolean {
            self =
                isDone
                ? .result(json[Key.result] ?? .null)
                : .problem(
                    OperatorProblem(
                        json[Key.error]?.text ?? "no reason is given", hint: json[Key.hint]?.text ?? ""))
        } else if let members = json.members, members.count == 1 {
            self = .line(name: members[0].key, members[0].value)
        } else {
            throw .unknownForm
        }
    }

    /// A line that a command sends before its answer.
    public init(_ line: some OperatorLine) { self = .line(name: line.name, line.json) }

    /// The reply with all registration tokens cut, in whatever text they are.
    public var withoutTokens: OperatorReply {
        switch self {
        case .progress, .problem: self
        case .line(let name, let json): .line(name: name, json.withoutTokens)
        case .result(let json): .result(json.withoutTokens)
        }
    }

    /// The encoded reply.
    public var json: JSONValue {
        switch self {
        case .progress(let progress): .object([.init(Key.progress, progress.json)])
        case .line(let name, let json): .object([.init(name, json)])
        case .result(let json): .object([.init(Key.ok, true), .init(Key.result, json)])
        case .problem(let problem):
            .object([
                .init(Key.ok, false), .init(Key.error, .string(problem.text)),
                .init(Key.hint, .string(problem.hint)),
            ])
        }
    }
}

extension JSONValue {
    /// The value with all registration tokens cut in its texts and keys.
    fileprivate var withoutTokens: JSONValue {
        switch self {
        case .null, .boolean, .integer, .number: self
        case .string(let text): .string(TokenSeal.cut(in: text))
        case .array(let elements): .array(elements.map(\.withoutTokens))
        case .object(let members):
            .object(members.map { Member(TokenSeal.cut(in: $0.key), $0.value.withoutTokens) })
        }
    }
}
