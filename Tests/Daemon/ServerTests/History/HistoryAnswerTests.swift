import Basics
import Delivery
import History
import Sessions
import Testing
import Wire

@testable import Server

/// What app servers get from the message history.
@Suite struct HistoryAnswerTests {
    private static let time: UnixMilliseconds = 1_700_000_000_000

    private func files(_ folder: ServerFolder) throws -> HistoryFiles {
        let files = try HistoryFiles(
            folder: folder.path + "/history", keeping: .init(hours: 24, bytes: 1 << 30), now: Self.time)
        var batch = HistoryBatch()
        for sender in [7, 8] as [UInt64] {
            var step = HistoryStep(.downstream, .stored, sequence: 100 + sender, at: Self.time + 1)
            (step.device, step.registration, step.sender, step.salt) = (5_555, 3, sender, 0x0102_0304)
            batch.append(step, id: Array("both".utf8))
            step.sequence += 100
            batch.append(step, id: Array("only-\(sender)".utf8))
            step.step = .expired
            step.time += 5
            batch.append(step, detail: "now_or_never")
        }
        var topic = HistoryStep(.topic, .stored, sequence: 6_177_433_633_397_011, at: Self.time + 2)
        (topic.sender, topic.salt) = (7, 9)
        batch.append(topic)
        try files.append(batch, now: Self.time)
        return files
    }

    private func answer(
        _ subject: HistoryQuery.Subject, sender: UInt64, _ sources: [HistorySource]?
    ) throws -> (status: HTTPStatus, text: String) {
        let query = HistoryQuery(sender: SenderID(sender), project: Array("p".utf8), subject)
        var inquiry = HistoryInquiry(query.request(Self.time), of: [NodeNumber(0)])
        let reply = sources.map { sources -> HistoryReply? in
            switch inquiry.questions[0].question {
            case .list(let list):
                var search = HistorySearch(sources, blocks: list.blocks)
                return search.reply(to: list)
            case .totals(let sender, let start):
                var counter = HistoryCounter()
                _ = counter.count(sources, upTo: 100)
                return counter.reply(of: sender, from: start, sources)
            case .parts, .hours: return nil
            }
        }
        guard case .done(let result) = inquiry.receive(reply ?? nil, from: NodeNumber(0)) else {
            throw UnansweredQuestion()
        }
        return text(of: query.response(result))
    }

    private struct UnansweredQuestion: Error {}

    private func text(of response: HTTPResponse) -> (status: HTTPStatus, text: String) {
        (response.status, String(decoding: response.body, as: UTF8.self))
    }

    @Test("an answer without some nodes names them, and is no proof that there is no message")
    func missing() {
        let query = HistoryQuery(sender: SenderID(7), project: Array("p".utf8), .message([0x78]))
        func answer(_ missing: [NodeNumber]) -> (status: HTTPStatus, text: String) {
            let list = HistoryResult.Content.list([], next: nil, latest: nil, isCut: false)
            let cover = HistoryCover(since: nil, gaps: [], damaged: 0)
            return text(of: query.response(HistoryResult(content: list, cover: cover, missing: missing)))
        }
        #expect(answer([]).status == .notFound)
        let part = answer([NodeNumber(2), NodeNumber(3)])
        #expect(part.status == .ok && part.text.contains("\"damaged\":0,\"missing\":[2,3]"))
    }

    private func answer(_ message: String, sender: UInt64 = 7) throws -> (status: HTTPStatus, text: String) {
        let folder = try ServerFolder()
        defer { withExtendedLifetime(folder) {} }
        return try answer(.message(Array(message.utf8)), sender: sender, try files(folder).sources())
    }

    @Test("a message has its steps, and no device")
    func steps() throws {
        let (status, text) = try answer("only-8", sender: 8)
        let time = { (more: Int64) in Timestamp.text(Self.time + more) }
        #expect(status == .ok)
        #expect(
            text == "{\"messages\":[{\"kind\":\"downstream\",\"messageId\":\"only-8\","
                + "\"name\":\"projects/p/messages/0:208%01020304f9fd7ecd\",\"steps\":["
                + "{\"time\":\"\(time(1))\",\"milestone\":\"stored\"},"
                + "{\"time\":\"\(time(6))\",\"milestone\":\"expired\",\"reason\":\"now_or_never\"}]}],"
                + "\"isCut\":false,\"history\":{\"since\":\"\(time(1))\",\"gaps\":[],\"damaged\":0}}")
    }

    @Test("messages of other senders are as unknown as those that were never sent, by any ID")
    func others() throws {
        let absent = try answer("absent")
        #expect(absent.status == .notFound)
        for foreign in ["only-8", "0:108%01020304f9fd7ecd", "projects/p/messages/0:108%01020304f9fd7ecd"] {
            let found = try answer(foreign)
            #expect(found.status == absent.status && found.text == absent.text, "\(foreign)")
            #expect(try answer(foreign, sender: 8).status == .ok, "canary: its sender finds it")
        }
        #expect(try answer("6177433633397011", sender: 8).status == .notFound)
        #expect(try answer("6177433633397011").text.contains("\"kind\":\"topic\""))
        let both = try answer("both")
        #expect(both.text.contains("0:107%") && !both.text.contains("0:108%"))
    }

    @Test("without files the answer is an error of v1")
    func unreadable() throws {
        #expect(try answer(.message([1]), sender: 7, nil).status == .unavailable)
        #expect(try answer(.totals(days: 1), sender: 7, nil).status == .unavailable)
    }

    @Test("the counts of a day are those of the sender")
    func totals() throws {
        let folder = try ServerFolder()
        defer { withExtendedLifetime(folder) {} }
        let (status, text) = try answer(.totals(days: 2), sender: 8, try files(folder).sources())
        #expect(status == .ok)
        #expect(
            text.contains(
                "{\"date\":{\"year\":2023,\"month\":11,\"day\":14},\"data\":{\"countMessagesAccepted\":\"2\"")
        )
        #expect(text.contains("\"countMessagesDroppedTtlExpired\":\"1\""))
        #expect(text.contains("\"completeSince\":\"\(Timestamp.text(Self.time + 1))\""))
        let none = try answer(.totals(days: 2), sender: 9, try files(folder).sources())
        #expect(none.text.hasPrefix("{\"deliveryData\":[],"))
    }

    @Test("a sender may ask up to its limit, regardless of others, and again later")
    func allowance() throws {
        var allowance = SenderAllowance(of: "messages")
        let now = Now.read().monotonic
        func count(_ sender: UInt64, at time: Instant) -> V1Error? {
            do throws(V1Error) {
                try allowance.count(SenderID(sender), now: time) { $0.number != 9 }
                return nil
            } catch { return error }
        }
        for _ in 0..<Limits.History.senderQuestions { #expect(count(7, at: now) == nil) }
        let refused = try #require(count(7, at: now))
        #expect(refused.status == .tooManyRequests && refused.retrySeconds == 1)
        #expect(count(8, at: now) == nil)
        #expect(count(7, at: now.advanced(seconds: 1)) == nil)
        // What is left of a sender that was removed is forgotten.
        for _ in 0...Limits.History.senderQuestions { _ = count(9, at: now) }
        #expect(count(9, at: now) != nil)
        #expect(count(10, at: now) == nil && count(9, at: now) == nil)
    }
}
