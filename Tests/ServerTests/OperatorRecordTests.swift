import Basics
import Delivery
import Testing
import Wire

@testable import Server

/// The line that an operator command leaves.
@Suite struct OperatorRecordTests {
    private static let seal = TokenSeal(secret: [UInt8](repeating: 9, count: 32))

    private func record(_ request: JSONValue, _ answer: ControlReply) -> OperatorRecord {
        OperatorRecord(request, answer, seal: Self.seal) { ControlServer.names.contains($0) }
    }

    @Test("names and IDs are in it; keys, payloads and tokens are not")
    func noSecrets() {
        let token = String(
            decoding: Self.seal.token(
                for: RegistrationName(device: DeviceID(77), number: RegistrationNumber(1))), as: UTF8.self)
        let requests: [JSONValue] = [
            [
                "command": "senders add",
                "arguments": ["label": "shop", "key": "AIzaSECRET-KEY", "project": "p"],
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
                "arguments": ["sender_id": "5", "public_key": "SECRET-PUBLIC"],
            ],
        ]
        var texts: [String] = []
        for request in requests {
            let made = record(request, .result(["outcome": "ack"]))
            texts.append("\(made)")
            #expect(!"\(made)".contains("SECRET") && !"\(made)".contains(token.prefix(20)), "\(made)")
        }
        #expect(texts[0].contains("shop") && texts[1].contains("77") && texts[2].contains("77"))
    }

    @Test("the result says how it ended: done, refused and why, or what became of a message")
    func results() {
        let send: JSONValue = ["command": "send", "arguments": ["sender_id": "5", "to": "/topics/news"]]
        #expect(record(send, .result(["outcome": "ack"])).result == "ok")
        #expect(
            record(send, .result(["outcome": "nack", "error": "BAD_REGISTRATION"])).result
                == "BAD_REGISTRATION")
        let refused = record(["command": "audit"], .problem("the store cannot be read", hint: ""))
        #expect(refused.result == "refused" && refused.problem == "the store cannot be read")
    }

    @Test("a request that is no command is one of an unknown one, with nothing of what it held")
    func unknown() {
        let made = record(
            ["command": "SECRET", "arguments": ["label": "SECRET"]],
            .problem("there is no command 'SECRET'", hint: ""))
        #expect(made.command == "unknown" && !"\(made)".contains("SECRET"))
    }
}
