import Sessions
public import Wire

/// The answers common to all endpoints: those sent before the endpoint's own code runs.
extension HTTPEndpoint.ErrorForm {
    /// The form of an error answer, except for error words with status 200.
    private var content: HTTPDescription.Content {
        switch self {
        case .text, .word: .text()
        case .json: .json(.ref(.rpcError))
        case .note: .json(.ref(.note))
        }
    }

    /// The common answers in the order of their statuses.
    var commonAnswers: [HTTPDescription.Answer] {
        var answers: [HTTPDescription.Answer] = []
        for status in HTTPStatus.allCases {
            guard var answer = commonAnswer(status) else { continue }
            switch status {
            case .methodNotAllowed:
                answer.headers = [(name: "Allow", meaning: "The accepted methods.")]
            case .unsupportedMediaType:
                answer.headers = [(name: "Accept-Encoding", meaning: "The accepted codings.")]
            default: break
            }
            answers.append(answer)
        }
        return answers
    }

    /// Returns the common answer with a status, or `nil` if there is none in this form.
    private func commonAnswer(_ status: HTTPStatus) -> HTTPDescription.Answer? {
        switch status {
        // Of these the first line cannot be read, so that their endpoint is unknown.
        case .targetTooLong, .versionNotSupported:
            HTTPDescription.Answer(status, .text())
        case .badRequest, .requestTimeout, .contentTooLarge, .expectationFailed, .headersTooLarge,
            .notImplemented:
            isText
                ? HTTPDescription.Answer(status, .text()) : HTTPDescription.Answer(status, content, .text())
        // A path with an empty segment matches no endpoint.
        case .notFound:
            isText
                ? HTTPDescription.Answer(status, .text())
                : HTTPDescription.Answer(status, .json(.ref(.rpcError)), .text())
        case .methodNotAllowed: HTTPDescription.Answer(status, content)
        case .lengthRequired, .unsupportedMediaType, .unavailable:
            self == .word ? nil : HTTPDescription.Answer(status, content)
        case .temporaryRedirect, .misdirectedRequest, .ok, .created, .noContent, .notModified, .unauthorized,
            .forbidden, .conflict, .gone,
            .tooManyRequests, .internalError:
            nil
        }
    }

    private var isText: Bool { self == .text || self == .word }
}

extension HTTPDescription.Answer {
    /// Returns the union of this answer and another with the same status.
    func or(_ other: HTTPDescription.Answer) -> HTTPDescription.Answer {
        var both = self
        for content in other.contents {
            guard let at = both.contents.firstIndex(where: { $0.type == content.type }) else {
                both.contents.append(content)
                continue
            }
            if both.contents[at].schema != content.schema {
                both.contents[at].schema = .either(both.contents[at].schema, content.schema)
            }
        }
        both.headers += other.headers
        both.rareHeaders += other.rareHeaders
        return both
    }
}

extension HTTPDescription {
    /// Returns the own and the common answers of an endpoint with this error form, each status once, in ascending order.
    func allAnswers(_ form: HTTPEndpoint.ErrorForm, needsBody: Bool) -> [Answer] {
        var all = form.commonAnswers.filter { needsBody || $0.status != .lengthRequired }
        for own in answers {
            if let at = all.firstIndex(where: { $0.status == own.status }) {
                all[at] = own.or(all[at])
            } else {
                all.append(own)
            }
        }
        return all.sorted { $0.status.rawValue < $1.status.rawValue }
    }
}

extension HTTPEndpoint {
    /// All answers that may be sent, those of the endpoint and those common to all endpoints.
    var answers: [HTTPDescription.Answer] { action.description.allAnswers(errors, needsBody: needsBody) }

    /// Returns whether an answer with this status and media type is declared.
    static func declares(_ response: HTTPResponse, _ answers: [HTTPDescription.Answer]) -> Bool {
        let type = "\(response.contentType)".prefix { $0 != ";" }
        return answers.contains { answer in
            answer.status == response.status && answer.contents.contains { $0.type == type }
        }
    }
}

/// The check that sessions send what is described, for `SessionSettings.isDeclared`.
public enum DeclaredAnswers {
    /// Returns whether the endpoint at this index of `Metric.httpEndpoints` declares the answer. Of an unreadable request (0) only the
    /// status is compared, as the endpoint that it was meant for decides the form.
    public static func contain(_ response: HTTPResponse, at position: Int) -> Bool {
        position == 0
            ? unreadable.contains(response.status)
            : HTTPEndpoint.declares(response, byPosition[position] ?? [])
    }

    private static let unreadable = HTTPEndpoint.ErrorForm.text.commonAnswers.map(\.status)
    private static let byPosition = Dictionary(
        uniqueKeysWithValues: (HTTPEndpoint.services + HTTPEndpoint.administration)
            .map { ($0.position, $0.answers) })
}
