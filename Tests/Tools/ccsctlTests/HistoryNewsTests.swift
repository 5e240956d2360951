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
        #expect(next.sender == SenderID(7) && next.outcome == .refused && next.limit == 5)
    }
}
