import Basics
import Delivery
import Testing
import Wire

@testable import Sessions

/// What app servers ask of the message history, an extension of HTTP v1.
@Suite struct HTTPHistoryTests {
    private static let own = "\(HTTPHarness.sender.number)"

    private func ask(
        _ message: String, project: String = own, key: String? = "key=good-key",
        _ change: (inout SessionSettings) -> Void = { _ in }
    ) -> HTTPHarness {
        let harness = HTTPHarness(change)
        let authorization = key.map { "Authorization: \($0)\r\n" } ?? ""
        harness.send(
            "GET /v1/projects/\(project)/messages/\(message) HTTP/1.1\r\nHost: x\r\n\(authorization)\r\n")
        return harness
    }

    private func queries(_ harness: HTTPHarness) -> [HistoryQuery] {
        harness.pages.compactMap { if case .history(let query) = $0.question { query } else { nil } }
    }

    @Test(
        "a message is asked for by the sender of the key, with its ID escaped or not",
        arguments: [
            ("m-1", "m-1"), ("a%2Fb%25c", "a/b%c"), ("6177433633397011000", "6177433633397011000"),
            ("0:1500415314455276%2531bd1c96f9fd7ecd", "0:1500415314455276%31bd1c96f9fd7ecd"),
            ("0:1500415314455276%31bd1c96f9fd7ecd", "0:1500415314455276%31bd1c96f9fd7ecd"),
        ])
    func names(_ written: String, _ message: String) {
        let harness = ask(written)
        #expect(
            queries(harness) == [
                HistoryQuery(
                    sender: HTTPHarness.sender, project: Array(Self.own.utf8), .message(Array(message.utf8)))
            ])
        #expect(harness.sent.isEmpty)
    }

    @Test("counts are asked for by the number of days")
    func days() {
        func asked(_ query: String) -> (days: [Int], answer: String) {
            let harness = HTTPHarness()
            harness.send(
                "GET /v1/projects/\(Self.own)/deliveryData\(query) HTTP/1.1\r\nHost: x\r\nAuthorization: key=good-key\r\n\r\n"
            )
            let days = queries(harness).compactMap { query -> Int? in
                if case .totals(let days) = query.subject { days } else { nil }
            }
            return (days, harness.takeSent())
        }
        #expect(asked("?days=7").days == [7])
        #expect(asked("").days == [Limits.History.days])
        for wrong in ["0", "411", "x", "-1", "%f"] {
            let (days, answer) = asked("?days=\(wrong)")
            #expect(days.isEmpty && answer.hasPrefix("HTTP/1.1 400 "), "\(answer)")
            #expect(answer.contains("\"field\":\"days\"") || wrong == "%f")
        }
    }

    @Test("the answer of the host is sent, and an error of v1 if there is none in time")
    func answers() throws {
        let harness = ask("m-1")
        harness.answerPage(try #require(harness.pages.first?.requestID), "{}")
        #expect(harness.takeSent().hasPrefix("HTTP/1.1 200 "))
        let late = ask("m-1")
        late.pass(seconds: Limits.HTTP.answerDeadlineSeconds)
        let answer = late.takeSent()
        #expect(answer.hasPrefix("HTTP/1.1 503 ") && answer.contains("\"status\":\"UNAVAILABLE\""))
    }

    @Test("without the credentials of the project nothing is asked")
    func refused() {
        func status(_ harness: HTTPHarness) -> String {
            #expect(queries(harness).isEmpty)
            let answer = harness.takeSent()
            #expect(answer.contains("{\"error\":{\"code\":"))
            return String(answer.dropFirst(9).prefix(3))
        }
        #expect(status(ask("m-1", key: nil)) == "401")
        #expect(status(ask("m-1", key: "key=wrong")) == "401")
        #expect(status(ask("m-1", key: "Bearer wrong")) == "401")
        #expect(status(ask("m-1", project: "7")) == "403", "another sender's project")
        let suspended = ask("m-1", key: "key=off") { $0.isKeySuspended = { _, _ in true } }
        #expect(suspended.sent.contains("suspended"))
        #expect(status(suspended) == "401")
        #expect(status(ask("m-1", key: "key=new") { $0.areSendersCurrent = { _ in false } }) == "503")
    }

    @Test("canary: a path without an ID is no question") func noID() {
        let harness = ask("")
        #expect(queries(harness).isEmpty && harness.sent.hasPrefix("HTTP/1.1 404 "))
    }
}
