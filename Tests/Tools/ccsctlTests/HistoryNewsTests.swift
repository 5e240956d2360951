import Basics
import Operator
import Testing
import Wire

@testable import ccsctl

/// What `--follow` prints of the message history.
@Suite struct HistoryNewsTests {
    private func row(_ id: String, _ words: String...) -> HistoryRow {
        let steps = words.enumerated().map {
            HistoryRow.Step(time: Int64($0.offset), step: $0.element, detail: nil)
        }
        return HistoryRow(
            kind: "downstream", messageID: id, persistentID: nil, sender: SenderID(7), device: DeviceID(5),
            registration: 1, steps: steps)
    }

    private func words(_ rows: [HistoryRow]) -> [String] {
        rows.map { "\($0.messageID ?? "") \($0.steps.map(\.step).joined(separator: ","))" }
    }

    @Test func eachStepIsPrintedOnce() {
        var news = HistoryNews()
        let (a, b) = (row("a", "stored"), row("b", "stored", "sent"))
        #expect(words(news.take([b, a])) == ["a stored", "b stored,sent"])
        #expect(news.take([b, a]).isEmpty)
        let later = news.take([row("a", "stored", "sent", "delivered"), row("c", "refused"), b])
        #expect(words(later) == ["c refused", "a sent,delivered"])
    }

    @Test func commandsGoOnAfterTheLastStep() throws {
        let command = try FindMessages(
            arguments: ["sender_id": "7", "outcome": "refused", "before": "3", "limit": 5])
        let next = command.following(HistoryCursor([NodeNumber(0): 17]))
        #expect(next.before == nil && next.after == HistoryCursor([NodeNumber(0): 17]))
        #expect(next.sender == SenderID(7) && next.outcome == .refused)
        #expect(next.limit == Limits.History.rows, "what is new is read in few pages")
    }

    /// Answers like a history with `count` messages since the last question, in pages of 10.
    private func page(of count: Int, _ command: FindMessages) -> FindMessages.Answer {
        let end = command.before.flatMap { $0.places[NodeNumber(0)] }.map { Int($0) } ?? count
        let start = max(0, end - 10)
        let next = start > 0 ? HistoryCursor([NodeNumber(0): UInt64(start)]) : nil
        return FindMessages.Answer(
            messages: (start..<end).reversed().map { row("\($0)", "stored") }, isCut: next != nil,
            nextBefore: next, latest: HistoryCursor([NodeNumber(0): UInt64(count)]),
            coverage: HistoryCoverage(since: 1, gaps: [], damaged: 0, missing: []))
    }

    @Test func allThatIsNewIsShownPageByPage() throws {
        let after = HistoryCursor([NodeNumber(0): 0])
        let command = FindMessages().following(after)
        var asked: [FindMessages] = []
        let answer = try command.allPages {
            asked.append($0)
            return page(of: 40, $0)
        }
        var news = HistoryNews()
        #expect(words(news.take(answer.messages)) == (0..<40).map { "\($0) stored" })
        #expect(!answer.isCut && answer.nextBefore == nil)
        #expect(answer.latest == HistoryCursor([NodeNumber(0): 40]), "it goes on after the first page")
        #expect(asked.count == 4 && asked.allSatisfy { $0.after == after })
    }

    @Test func tooMuchNewsIsSaidToBeCut() throws {
        var asked = 0
        let answer = try FindMessages().following(nil).allPages {
            asked += 1
            return page(of: 10 * Limits.History.followedPages + 1, $0)
        }
        #expect(asked == Limits.History.followedPages && answer.messages.count == 10 * asked)
        #expect(answer.isCut && answer.nextBefore != nil)
    }
}
