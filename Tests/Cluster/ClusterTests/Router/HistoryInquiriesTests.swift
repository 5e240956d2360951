import Basics
import Delivery
import History
import Testing

@testable import Cluster

@Suite("questions to the histories of all nodes")
struct HistoryInquiriesTests {
    private typealias Effect = HistoryInquiries.Effect
    private let noon = Instant(nanoseconds: 0)
    private let nodes = [NodeNumber(1), NodeNumber(2)]
    private let request = HistoryRequest.totals(of: nil, from: 0)
    private let reply = HistoryReply(
        .sums(HistorySums(days: [], completeSince: nil, unattributed: 1)),
        HistoryCover(since: nil, gaps: [], damaged: 0))

    private func begin(_ inquiries: inout HistoryInquiries) throws -> UInt64 {
        var effects: [Effect] = []
        inquiries.begin(request, 71, nodes: nodes, now: noon, effects: &effects)
        guard case .ask(NodeNumber(1), .totals, let number)? = effects.first else {
            throw StoppedTest()
        }
        #expect(effects.last == .ask(nodes[1], .totals(of: nil, from: 0), number: number))
        return number
    }

    private struct StoppedTest: Error {}

    private func result(_ effects: [Effect]) -> (unattributed: Int, missing: [NodeNumber])? {
        guard effects.count == 1, case .done(71, let result?)? = effects.first,
            case .sums(let sums) = result.content
        else { return nil }
        return (sums.unattributed, result.missing)
    }

    @Test("each answer counts once: not one to another question, of another node, or one that comes again")
    func answers() throws {
        var inquiries = HistoryInquiries(after: .max)
        let number = try begin(&inquiries)
        var effects: [Effect] = []
        inquiries.receive(reply, to: number &+ 1, from: nodes[0], effects: &effects)
        inquiries.receive(reply, to: number, from: NodeNumber(3), effects: &effects)
        inquiries.receive(reply, to: number, from: nodes[0], effects: &effects)
        inquiries.receive(nil, to: number, from: nodes[0], effects: &effects)
        #expect(effects.isEmpty)
        inquiries.receive(reply, to: number, from: nodes[1], effects: &effects)
        let done = try #require(result(effects))
        #expect(done.unattributed == 2 && done.missing.isEmpty && inquiries.count == 0)
        inquiries.receive(reply, to: number, from: nodes[1], effects: &effects)
        inquiries.stop(effects: &effects)
        #expect(effects.count == 1)
    }

    @Test("a node that fails, is lost or never answers is missing in the result")
    func missing() throws {
        let ends: [(inout HistoryInquiries, inout [Effect]) -> Void] = [
            { $0.receive(nil, to: 8, from: NodeNumber(2), effects: &$1) },
            { $0.lose(NodeNumber(2), effects: &$1) },
            { [noon] in
                $0.tick(
                    noon.advanced(milliseconds: Limits.History.nodesMilliseconds), effects: &$1)
            }, { $0.stop(effects: &$1) },
        ]
        for end in ends {
            var inquiries = HistoryInquiries(after: 7)
            let number = try begin(&inquiries)
            var effects: [Effect] = []
            inquiries.receive(reply, to: number, from: nodes[0], effects: &effects)
            inquiries.tick(
                noon.advanced(milliseconds: Limits.History.nodesMilliseconds - 1), effects: &effects)
            #expect(effects.isEmpty)
            end(&inquiries, &effects)
            let done = try #require(result(effects))
            #expect(done.unattributed == 1 && done.missing == [nodes[1]] && inquiries.count == 0)
        }
        var inquiries = HistoryInquiries(after: 7)
        _ = try begin(&inquiries)
        var effects: [Effect] = []
        inquiries.lose(nodes[0], effects: &effects)
        inquiries.lose(nodes[1], effects: &effects)
        #expect(effects == [.done(71, nil)] && inquiries.count == 0)
    }

    @Test("steps of listed messages are asked for under a number of their own")
    func rounds() throws {
        var inquiries = HistoryInquiries(after: 0)
        var effects: [Effect] = []
        let list = HistoryRequest.list(HistoryList(HistoryFilter(), limit: 5), before: nil, after: nil)
        inquiries.begin(list, 5, nodes: nodes, now: noon, effects: &effects)
        var record = HistoryRecord(.downstream)
        (record.device, record.sequence) = (3, 4)
        record.steps = [.init(time: 9, step: .stored)]
        let page = HistoryPage([HistoryMessage(record: record, position: HistoryPosition(place: 1))])
        let answer = HistoryReply(.page(page), reply.cover)
        effects = []
        inquiries.receive(answer, to: 1, from: nodes[0], effects: &effects)
        inquiries.receive(
            HistoryReply(.page(HistoryPage()), reply.cover), to: 1, from: nodes[1], effects: &effects)
        let parts = [HistoryPart(kind: .downstream, owner: 3, sequence: 4, sender: 0)]
        #expect(effects == nodes.map { Effect.ask($0, .parts(parts), number: 2) })
        effects = []
        inquiries.receive(answer, to: 1, from: nodes[0], effects: &effects)
        #expect(effects.isEmpty, "an answer to the first round")
        inquiries.receive(answer, to: 2, from: nodes[0], effects: &effects)
        inquiries.receive(nil, to: 2, from: nodes[1], effects: &effects)
        guard case .done(5, let result?)? = effects.first else {
            Issue.record("\(effects)")
            return
        }
        #expect(result.missing == [nodes[1]] && inquiries.count == 0)
        #expect(result.content == .list([record], next: nil, latest: nil, isCut: false))
    }

    @Test("canary: more requests than may be open are refused at once, and one less is not")
    func bounded() {
        var inquiries = HistoryInquiries(after: 0)
        var effects: [Effect] = []
        for number in 0...UInt64(Limits.History.openInquiries) {
            inquiries.begin(request, number, nodes: nodes, now: noon, effects: &effects)
        }
        #expect(inquiries.count == Limits.History.openInquiries)
        #expect(effects.last == .done(UInt64(Limits.History.openInquiries), nil))
        #expect(effects.count == 2 * Limits.History.openInquiries + 1)
    }
}
