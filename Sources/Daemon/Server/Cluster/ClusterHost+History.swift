import Basics
import Cluster
import ClusterSetup
import History
import NodeLinks
import NodeProtocol
import Transport

/// Questions to the message histories of all nodes.
extension ClusterHost {
    /// Asks all nodes that are not removed.
    func inquire(_ request: HistoryRequest, _ then: @escaping @Sendable (HistoryResult?) -> Void) {
        let others = settings.file.nodes.map(\.number) + membership.roster.entries.map(\.node)
        let nodes = Set(others + [node]).filter { !membership.roster.isRemoved($0) }.sorted()
        lastInquiry += 1
        inquirers[lastInquiry] = then
        let (number, now) = (lastInquiry, reactor.now.monotonic)
        inquire { $0.begin(request, number, nodes: nodes, now: now, effects: &$1) }
    }

    /// Changes the open questions, and does what follows.
    func inquire(_ change: (inout HistoryInquiries, inout [HistoryInquiries.Effect]) -> Void) {
        var made: [HistoryInquiries.Effect] = []
        change(&inquiries, &made)
        for effect in made {
            switch effect {
            case .ask(let node, let question, let number): ask(node, question, number)
            case .done(let number, let result): inquirers.removeValue(forKey: number)?(result)
            }
        }
    }

    private func ask(_ other: NodeNumber, _ question: HistoryQuestion, _ number: HistoryInquiries.Number) {
        if other == node {
            return answer(question) { host, reply in
                host.inquire { $0.receive(reply, to: number, from: other, effects: &$1) }
            }
        }
        let now = reactor.now.monotonic
        let isSent =
            links?.isUp(other) == true && hasRoom(for: other)
            && write(to: other) { $0.append(question, number: number, now: now) }
        if !isSent { inquire { $0.receive(nil, to: number, from: other, effects: &$1) } }
    }

    /// Answers a question of another node.
    func answer(_ question: HistoryQuestion, number: HistoryInquiries.Number, to other: NodeNumber) {
        answer(question) { host, reply in
            let now = host.reactor.now.monotonic
            let room = host.hasRoom(for: other) ? reply : nil
            if !host.write(to: other, { $0.append(answered: number, room, now: now) }) {
                _ = host.write(to: other) { $0.append(answered: number, nil, now: now) }
            }
        }
    }

    private func answer(
        _ question: HistoryQuestion, then: @escaping @Sendable (ClusterHost, HistoryReply?) -> Void
    ) {
        let mailbox = mailbox
        let isTaken = history?.post(
            upTo: Limits.History.waitingQuestions,
            .init(question) { reply in
                mailbox.post { then($0, reply) }
            })
        if isTaken != true { then(self, nil) }
    }
}
