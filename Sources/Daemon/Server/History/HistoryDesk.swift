import Basics
import Cluster
import History
import Transport

/// Asks the history of this node, or in a cluster those of all nodes.
struct HistoryDesk: Sendable {
    let port: HistoryPort
    /// The other nodes. `nil` without a cluster.
    let cluster: ClusterPort?

    /// Asks, and passes on the result: `nil` if nothing can be read now. Returns `false` if `limit` questions are waiting.
    func ask(
        _ request: HistoryRequest, upTo limit: Int = Limits.History.waitingQuestions,
        then: @escaping @Sendable (HistoryResult?) -> Void
    ) -> Bool {
        guard let cluster else {
            let inquiry = HistoryInquiry(request, of: [Self.alone])
            return inquiry.questions.allSatisfy { question in
                port.post(
                    upTo: limit,
                    .init(question.question) { reply in
                        var inquiry = inquiry
                        guard case .done(let result) = inquiry.receive(reply, from: Self.alone) else {
                            return
                        }
                        then(result)
                    })
            }
        }
        guard port.hasRoom(upTo: limit) else { return false }
        cluster.mailbox.post { $0.inquire(request, then) }
        return true
    }

    /// Whether a cursor is of these histories.
    func covers(_ cursor: HistoryCursor) -> Bool {
        cursor.places.keys.allSatisfy { ($0 == Self.alone) == (cluster == nil) }
    }

    /// What a node without a cluster is to its own history.
    private static let alone = NodeNumber(0)
}
