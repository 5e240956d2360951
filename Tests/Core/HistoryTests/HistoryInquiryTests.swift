import Basics
import Delivery
import History
import Testing

/// Questions to the histories of several nodes.
@Suite struct HistoryInquiryTests {
    private typealias World = HistoryWorld
    private static let start: Int64 = 1_700_000_000_000
    private let nodes = [1, 2, 3].map { NodeNumber($0) }

    private func step(
        _ step: TraceRecord.Step, _ sequence: UInt64, after milliseconds: Int64
    ) -> World.Given {
        World.step(
            step, sequence: sequence, at: Self.start + milliseconds,
            id: step == .stored ? "m-\(sequence)" : "")
    }

    /// Messages 1 to 12 at one node after the other; the third ones were delivered by the next node, the fourth ones have expired there.
    private func worlds() -> [NodeNumber: World] {
        let worlds = nodes.map { _ in World() }
        for number in 1...12 as ClosedRange<UInt64> {
            let at = Int(number % 3)
            worlds[at].write([step(.stored, number, after: Int64(number))])
            if number % 3 == 0 {
                worlds[(at + 1) % 3].write([step(.delivered, number, after: 100 + Int64(number))])
            } else if number % 4 == 0 {
                worlds[(at + 1) % 3].write([step(.expired, number, after: 200 + Int64(number))])
            }
            if number == 6 { worlds.forEach { $0.roll() } }
        }
        return Dictionary(uniqueKeysWithValues: zip(nodes, worlds))
    }

    private func reply(_ world: World?, to question: HistoryQuestion) -> HistoryReply? {
        guard let world else { return nil }
        var search = world.search()
        switch question {
        case .list(let list): return search.reply(to: list)
        case .parts(let parts): return search.reply(to: parts)
        case .totals(let sender, let start):
            var counter = HistoryCounter()
            _ = counter.count(world.sources(), upTo: 100)
            return counter.reply(of: sender, from: start, world.sources())
        case .hours(let start): return world.hours.reply(from: start)
        }
    }

    /// Asks until there is a result.
    private func result(_ request: HistoryRequest, _ worlds: [NodeNumber: World], of nodes: [NodeNumber])
        -> HistoryResult?
    {
        var inquiry = HistoryInquiry(request, of: nodes)
        var open = inquiry.questions
        while !open.isEmpty {
            let question = open.removeLast()
            switch inquiry.receive(
                reply(worlds[question.node], to: question.question), from: question.node)
            {
            case .wait: break
            case .ask(let more): open += more
            case .done(let result): return result
            }
        }
        return nil
    }

    private func list(
        _ worlds: [NodeNumber: World], limit: Int = 5, _ change: (inout HistoryFilter) -> Void = { _ in }
    ) -> [String] {
        var filter = HistoryFilter()
        change(&filter)
        var found: [String] = []
        var before: HistoryCursor?
        repeat {
            let request = HistoryRequest.list(HistoryList(filter, limit: limit), before: before, after: nil)
            guard
                case .list(let records, let next, _, let isCut)? = result(request, worlds, of: nodes)?.content
            else { return ["no list"] }
            #expect(records.count <= limit && (filter.name != nil || isCut == (next != nil)))
            found += records.map { record in
                "\(record.sequence) " + record.steps.map { "\($0.step)" }.joined(separator: " ")
            }
            before = next
        } while before != nil
        return found
    }

    private let all = (1...12).reversed().map { number in
        "\(number) stored" + (number % 3 == 0 ? " delivered" : number % 4 == 0 ? " expired" : "")
    }

    @Test(
        "pages of all nodes have each message once, newest first, with the steps of all",
        arguments: [1, 5, 50])
    func pages(_ limit: Int) {
        let worlds = worlds()
        #expect(list(worlds, limit: limit) == all)
        #expect(list(worlds, limit: limit) { $0.device = 7 } == all)
        let delivered = all.filter { $0.hasSuffix("delivered") }
        #expect(list(worlds, limit: limit) { $0.state = .ended(.delivered) } == delivered)
        #expect(list(worlds, limit: limit) { $0.state = .open } == all.filter { $0.hasSuffix("stored") })
        #expect(list(worlds, limit: limit) { $0.state = .ended(.refused) } == [])
    }

    @Test("an ID is found with the steps of all nodes") func name() {
        let worlds = worlds()
        func find(_ id: String) -> [String] {
            list(worlds) { $0.name = MessageName(Array(id.utf8)) }
        }
        #expect(find("m-3") == ["3 stored delivered"])
        #expect(find("m-8") == ["8 stored expired"])
        #expect(find("m-99") == [])
    }

    @Test("news are those after the last answer of each node") func news() throws {
        let worlds = worlds()
        let request = HistoryRequest.list(HistoryList(HistoryFilter(), limit: 3), before: nil, after: nil)
        guard case .list(_, _, let latest?, _)? = result(request, worlds, of: nodes)?.content else {
            Issue.record("no list")
            return
        }
        #expect(HistoryCursor(latest.text) == latest)
        worlds[NodeNumber(1)]?.write([step(.stored, 20, after: 500), step(.sent, 20, after: 501)])
        worlds[NodeNumber(2)]?.write([step(.delivered, 20, after: 502), step(.stored, 21, after: 503)])
        func news(_ after: HistoryCursor) -> [String] {
            let request = HistoryRequest.list(
                HistoryList(HistoryFilter(), limit: 3), before: nil, after: after)
            guard case .list(let records, _, _, _)? = result(request, worlds, of: nodes)?.content else {
                return []
            }
            return records.map { "\($0.sequence) \($0.steps.count)" }
        }
        #expect(news(latest) == ["21 1", "20 3"])
        // Of a node that was not there, what is there now is not new.
        #expect(news(HistoryCursor(latest.places.filter { $0.key.number != 2 })) == ["20 3"])
        #expect(news(HistoryCursor([:])) == [])
    }

    @Test("counts of all nodes are added") func totals() {
        let worlds = worlds()
        guard case .sums(let sums)? = result(.totals(of: nil, from: 0), worlds, of: nodes)?.content else {
            Issue.record("no counts")
            return
        }
        #expect(sums.days.map { $0.counts[.accepted] } == [12])
        #expect(sums.days.map { $0.counts[.delivered] } == [4] && sums.days[0].counts[.expired] == 2)
        guard case .sums(let hours)? = result(.hours(from: 0), worlds, of: nodes)?.content else {
            Issue.record("no counts")
            return
        }
        #expect(hours.days.map(\.counts) == sums.days.map(\.counts))
        #expect(hours.days.map(\.start) == [Self.start - Self.start % HourlyCounts.hour])
    }

    @Test("a node that fails, is late or answers something else is named, and its steps are missing")
    func missing() {
        var worlds = worlds()
        worlds[NodeNumber(2)] = nil
        let request = HistoryRequest.list(HistoryList(HistoryFilter(), limit: 50), before: nil, after: nil)
        let part = result(request, worlds, of: nodes)
        #expect(part?.missing == [NodeNumber(2)])
        guard case .list(let records, _, _, _)? = part?.content else { return }
        #expect(records.map(\.sequence) == [12, 11, 9, 8, 6, 5, 3, 2])
        #expect(result(request, [:], of: nodes) == nil)

        // Late: the deadline comes in each of the two rounds.
        var inquiry = HistoryInquiry(request, of: nodes)
        let questions = inquiry.questions
        let replies = questions.map { reply(self.worlds()[$0.node], to: $0.question) }
        #expect(inquiry.receive(replies[0], from: nodes[0]) == .wait)
        #expect(inquiry.receive(replies[0], from: nodes[0]) == .wait, "twice")
        #expect(inquiry.receive(replies[0], from: NodeNumber(9)) == .wait, "a stranger")
        let wrong = reply(self.worlds()[nodes[1]], to: .totals(of: nil, from: 0))
        #expect(inquiry.receive(wrong, from: nodes[1]) == .wait)
        var other = inquiry
        guard case .done(let late?) = inquiry.giveUp() else {
            Issue.record("it goes on")
            return
        }
        #expect(late.missing == [nodes[1], nodes[2]])
        #expect(inquiry.giveUp() == .wait && inquiry.receive(replies[2], from: nodes[2]) == .wait)
        guard case .ask(let more) = other.receive(replies[2], from: nodes[2]) else {
            Issue.record("no second round")
            return
        }
        #expect(more.map(\.node) == [nodes[0], nodes[2]])
        guard case .done(let second?) = other.giveUp() else {
            Issue.record("it goes on")
            return
        }
        #expect(second.missing == nodes)
    }

    @Test("a cursor has one form") func cursors() {
        for text in ["0", "4711", "1-5", "1-5.2-18446744073709551615"] {
            #expect(HistoryCursor(text)?.text == text)
        }
        let wrong = [
            "", ".", "-", "1-", "-1", "01", "1-05", "2-1.1-1", "1-1.1-2", "0-5", "5.1-5", "1-2-3", "65536-1",
            "18446744073709551616", "+1", "1-5.", "x",
        ]
        for text in wrong { #expect(HistoryCursor(text) == nil, "\(text)") }
    }

    @Test("canary: a step of another node shows in the comparison") func canary() {
        let worlds = worlds()
        worlds[NodeNumber(3)]?.write([step(.removed, 1, after: 900)])
        #expect(list(worlds) != all)
    }
}
