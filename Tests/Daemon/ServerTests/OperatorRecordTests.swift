import Basics
import Delivery
import Operator
import Testing
import Wire

@testable import Server

/// The audit line of an operator command.
@Suite struct OperatorRecordTests {
    private static let seal = TokenSeal(secret: [UInt8](repeating: 9, count: 32))

    private func record(
        _ request: JSONValue, _ outcome: OperatorRecord.Outcome = .done("ok")
    ) -> OperatorRecord {
        do throws(RequestProblem) {
            let request = try RequestLine.request(Array(request.compact.utf8).raw)
            return OperatorRecord(request, outcome, seal: Self.seal)
        } catch { return OperatorRecord(error) }
    }

    @Test("an audit line has names and IDs, but no keys, payloads or tokens")
    func noSecrets() {
        let token = String(
            decoding: Self.seal.token(
                for: RegistrationName(device: DeviceID(77), number: RegistrationNumber(1))), as: UTF8.self)
        let requests: [JSONValue] = [
            [
                "command": "senders add",
                "arguments": ["label": "shop", "key": "AIzaSECRET-KEY-0", "project": "p"],
            ],
            [
                "command": "send",
                "arguments": [
                    "sender_id": "5", "to": .string(token), "data": ["text": "SECRET-TEXT"],
                    "collapse_key": "SECRET-COLLAPSE",
                ],
            ],
            ["command": "devices show", "arguments": ["device": .string(token)]],
            [
                "command": "service-accounts add",
                "arguments": ["sender_id": "5", "public_key": "SECRETPUBLIC"],
            ],
        ]
        var texts: [String] = []
        for request in requests {
            let made = record(request)
            texts.append("\(made)")
            #expect(made.result == "ok", "\(made)")
            #expect(!"\(made)".contains("SECRET") && !"\(made)".contains(token.prefix(20)), "\(made)")
        }
        #expect(texts[0].contains("shop") && texts[1].contains("77") && texts[2].contains("77"))
    }

    @Test("an audit line has the result: ok, refused with the reason, or the error code of a message")
    func results() {
        let send: JSONValue = ["command": "send", "arguments": ["sender_id": "5", "to": "/topics/news"]]
        func result(_ answer: SendMessage.Answer) -> String {
            record(send, .done(SendMessage.auditResult(answer))).result
        }
        #expect(result(.init(messageID: "m", outcome: .ack)) == "ok")
        #expect(
            result(.init(messageID: "m", outcome: .nack, error: "BAD_REGISTRATION")) == "BAD_REGISTRATION")
        #expect(result(.init(messageID: "m", outcome: .nack)) == "refused")
        let refused = record(["command": "audit"], .refused(OperatorProblem("the store cannot be read")))
        #expect(refused.result == "refused" && refused.problem == "the store cannot be read")
    }

    @Test("an invalid request is recorded as unknown, without its content")
    func unknown() {
        let made = record(["command": "SECRET", "arguments": ["label": "SECRET"]])
        #expect(made.command == "unknown" && made.result == "refused" && !"\(made)".contains("SECRET"))
    }

    @Test(
        "a refused argument is recorded without its value, since it may be a secret in the wrong field"
    )
    func refusedArguments() {
        let wrong: [(JSONValue, String)] = [
            (["command": "senders remove", "arguments": ["sender_id": "SECRET"]], "invalid sender_id: "),
            (["command": "senders remove", "arguments": ["SECRET": "5"]], "unknown argument: "),
            (["command": "senders add", "arguments": ["key": "SECRET"]], "invalid key: "),
            (["command": "devices forget", "arguments": ["device": ["SECRET"]]], "invalid device: "),
        ]
        for (request, problem) in wrong {
            let made = record(request)
            #expect(made.result == "refused" && made.problem.hasPrefix(problem), "\(made)")
            #expect(made.command == request["command"]?.text && !"\(made)".contains("SECRET"), "\(made)")
        }
    }

    @Test("the caller is the user and process that the kernel reports, or local")
    func callers() {
        #expect(ControlCaller.local.user == "local" && ControlCaller.local.process == "local")
        let seen = ControlCaller.process(user: 7, id: 9)
        #expect(seen.user == 7 && seen.process == 9)
        let unseen = ControlCaller.process(user: 7, id: nil)
        #expect(unseen.user == 7 && unseen.process == "local")
    }
}
