import Basics
import Delivery
import Testing
import Wire

@testable import Sessions

/// The feedback list of APNs device tokens that have ended (apns 2.3).
@Suite struct HTTPAppleFeedbackTests {
    private static let name = RegistrationName(
        device: DeviceID(600_000_000_000_000_001), number: RegistrationNumber(1))

    private func ask(_ query: String, key: String = "key=good-key") -> HTTPHarness {
        let harness = HTTPHarness()
        harness.send(
            "GET /v1/apps/com.example.app/apns/feedback\(query) HTTP/1.1\r\nHost: x\r\nAuthorization: \(key)\r\n\r\n"
        )
        return harness
    }

    private func query(_ harness: HTTPHarness) -> FeedbackQuery? {
        harness.pages.compactMap { if case .feedback(let query) = $0.question { query } else { nil } }.first
    }

    private static func entry(_ bundle: String, _ seenAt: Int64, since: Int64?) -> APNsFeedback {
        APNsFeedback(
            sender: HTTPHarness.sender, seenAt: seenAt, registration: name, bundle: Array(bundle.utf8),
            apnsToken: Array("s_a1".utf8),
            verdict: APNsVerdict(status: 410, reason: "Unregistered", invalidSince: since))
    }

    @Test("The list is read by the sender of the key, from a position on, 30 days back at most")
    func queries() throws {
        let start = HTTPHarness().now.wall - Limits.APNs.feedbackMilliseconds
        let plain = try #require(query(ask("")))
        #expect(
            plain.sender == HTTPHarness.sender && plain.bundle == Array("com.example.app".utf8)
                && plain.limit == 1_000 && plain.after == FeedbackPosition(seenAt: start))
        #expect(
            query(ask("?since=7"))?.after == FeedbackPosition(seenAt: start), "older entries are not shown")
        let later = start + 5
        let page = query(ask("?since=\(later)-3-4&limit=10"))
        #expect(page?.limit == 10)
        #expect(
            page?.after
                == FeedbackPosition(
                    seenAt: later,
                    registration: RegistrationName(device: DeviceID(3), number: RegistrationNumber(4))))
    }

    @Test(
        "An invalid query is refused by name, and a wrong key like everywhere else",
        arguments: [
            "?since=x", "?since=1-2", "?since=-1", "?limit=0", "?limit=1001", "?limit=x", "?since=%f",
        ])
    func faults(_ text: String) {
        let harness = ask(text)
        let answer = harness.takeSent()
        #expect(answer.hasPrefix("HTTP/1.1 400 ") && answer.contains("{\"error\":\"invalid "), "\(answer)")
        #expect(harness.pages.isEmpty)
        #expect(ask("", key: "key=wrong").takeSent().hasPrefix("HTTP/1.1 401 "))
    }

    @Test("A page has the entries of the app, and the position of the last one read")
    func pages() throws {
        let query = FeedbackQuery(
            sender: HTTPHarness.sender, bundle: Array("app".utf8), after: FeedbackPosition(seenAt: 5),
            limit: 9)
        let token = String(decoding: HTTPHarness.seal.token(for: Self.name), as: UTF8.self)
        let body = FeedbackPage.json(
            [
                Self.entry("app", 8, since: 7), Self.entry("app", 9, since: nil),
                Self.entry("other", 10, since: 7),
            ],
            of: query, seal: HTTPHarness.seal)
        func item(_ seen: Int, _ since: String) -> String {
            "{\"registration_id\":\"\(token)\",\"apns_token\":\"a1\",\"environment\":\"sandbox\",\"topic\":\"app\","
                + "\"invalid_since\":\(since),\"seen_at\":\(seen),\"status\":410,\"reason\":\"Unregistered\"}"
        }
        let next = "10-\(Self.name.device.number)-1"
        #expect(
            String(decoding: body, as: UTF8.self)
                == "{\"items\":[\(item(8, "7")),\(item(9, "null"))],\"next\":\"\(next)\"}")
        #expect(FeedbackPage.position(Array(next.utf8)) == FeedbackPosition(Self.entry("", 10, since: nil)))
        let empty = FeedbackPage.json([], of: query, seal: HTTPHarness.seal)
        #expect(String(decoding: empty, as: UTF8.self) == "{\"items\":[],\"next\":\"5\"}")
    }
}
