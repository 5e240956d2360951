import Basics
import Wire

/// The tables of error codes in the references of both interfaces.
enum ErrorReference {
    /// Returns the rows of XMPP: each `error` with a description as sent, the word of the refusal and its meaning.
    static func xmpp(meaning: (String) -> String) -> String {
        var text = """
            | error | reason | meaning | send it again | error_description, for example |
            |---|---|---|---|---|

            """
        for refusal in Refusal.examples {
            let cells = [
                "`\(ErrorCode.code(refusal))`", "`\(refusal.word)`", cell(meaning(refusal.word)),
                again(refusal),
                "`\(cell(description(of: refusal)))`",
            ]
            text += "| " + cells.joined(separator: " | ") + " |\n"
        }
        return text
    }

    /// Returns the rows of HTTP: the error of the legacy interface, and the status and code of HTTP v1.
    static func http(meaning: (String) -> String) -> String {
        var text = """
            | legacy | HTTP v1 | reason | meaning | send it again |
            |---|---|---|---|---|

            """
        for refusal in Refusal.examples {
            let error = V1Error(refusal)
            let code = error.code.map { " `\($0.rawValue)`" } ?? ""
            let cells = [
                "`\(LegacyError.word(refusal))`", "\(error.status.rawValue)\(code)", "`\(refusal.word)`",
                cell(meaning(refusal.word)), again(refusal),
            ]
            text += "| " + cells.joined(separator: " | ") + " |\n"
        }
        return text
    }

    private static func again(_ refusal: Refusal) -> String { refusal.isRetryable ? "later" : "no" }

    /// Returns the `error_description` as an app server reads it.
    private static func description(of refusal: Refusal) -> String {
        var buffer = ByteBuffer()
        let target = Array("TOKEN".utf8)
        ErrorCode.append(descriptionOf: refusal, to: target.raw, into: &buffer)
        return String(decoding: buffer.copied(), as: UTF8.self).replacing("\\\"", with: "\"")
    }

    /// Returns a text for a cell of a table.
    static func cell(_ text: String) -> String { text.replacing("|", with: "\\|") }
}
