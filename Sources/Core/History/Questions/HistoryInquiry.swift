public import Basics
import Delivery

/// What is asked of the histories of all nodes.
public enum HistoryRequest: Sendable, Equatable {
    /// A list, and where its page begins at each node. With `after` it has up to its limit of each node.
    case list(HistoryList, before: HistoryCursor?, after: HistoryCursor?)
    /// Counts by outcome and day, of one sender or of all.
    case totals(of: SenderID?, from: UnixMilliseconds)
    /// Counts by outcome and hour, of all senders.
    case hours(from: UnixMilliseconds)
}

/// One request to the histories of some nodes: who is asked what, and what the answers are together.
///
/// Steps of a message may be at several nodes, since its partition has moved. Messages are listed by the node that has the first of them.
/// So after the pages all nodes are asked for the steps that they have of the listed messages.
public struct HistoryInquiry: Sendable {
    /// What is to be done next.
    public enum Next: Sendable, Equatable {
        /// Wait for the other answers.
        case wait
        /// Ask these nodes.
        case ask([Question])
        /// All is answered. `nil`: no node has answered.
        case done(HistoryResult?)
    }

    /// A question to a node.
    public struct Question: Sendable, Equatable {
        public var node: NodeNumber
        public var question: HistoryQuestion

        /// Creates a question.
        public init(_ node: NodeNumber, _ question: HistoryQuestion) {
            self.node = node
            self.question = question
        }
    }

    private enum Stage {
        case first
        case parts(HistorySelection)
        case done
    }

    private let request: HistoryRequest
    private let nodes: [NodeNumber]
    private var stage = Stage.first
    private var waiting: Set<NodeNumber>
    private var replies: [NodeNumber: HistoryReply] = [:]
    private var parts: [NodeNumber: [HistoryRecord]] = [:]
    private var missing: Set<NodeNumber> = []

    /// Creates an inquiry.
    public init(_ request: HistoryRequest, of nodes: [NodeNumber]) {
        self.request = request
        self.nodes = nodes
        waiting = Set(nodes)
    }

    /// The questions to begin with.
    public var questions: [Question] {
        nodes.map { node in
            switch request {
            case .list(var list, let before, let after):
                list.isPartial = nodes.count > 1
                list.before = before?.places[node].map { HistoryPosition(place: $0) }
                // A node that was not there before has no news: its latest position is the first one to follow.
                list.after = after.map { $0.places[node].map { HistoryPosition(place: $0) } ?? .end }
                return Question(node, .list(list))
            case .totals(let sender, let start): return Question(node, .totals(of: sender, from: start))
            case .hours(let start): return Question(node, .hours(from: start))
            }
        }
    }

    /// A node has answered; `nil`: it cannot. What does not belong to the last question is left out.
    public mutating func receive(_ reply: HistoryReply?, from node: NodeNumber) -> Next {
        guard waiting.remove(node) != nil else { return .wait }
        switch (stage, request, reply?.content) {
        case (.first, .list, .page), (.first, .totals, .sums), (.first, .hours, .sums): replies[node] = reply
        case (.parts, _, .page(let page)): parts[node] = page.messages.map(\.record)
        default: missing.insert(node)
        }
        return waiting.isEmpty ? advance() : .wait
    }

    /// No more answers are waited for.
    public mutating func giveUp() -> Next {
        guard !waiting.isEmpty else { return .wait }
        missing.formUnion(waiting)
        waiting = []
        return advance(isLate: true)
    }

    private mutating func advance(isLate: Bool = false) -> Next {
        switch (stage, request) {
        case (.done, _): return .wait
        case (.first, .list(let list, let before, let after)):
            guard !replies.isEmpty else { break }
            let pages = replies.compactMapValues { reply in
                if case .page(let page) = reply.content { page } else { nil }
            }
            let selection = HistorySelection(pages, list, before: before, isNews: after != nil)
            stage = .parts(selection)
            let wanted = selection.parts
            guard nodes.count > 1, !isLate, !wanted.isEmpty else { break }
            waiting = Set(replies.keys)
            return .ask(waiting.sorted().map { Question($0, .parts(wanted)) })
        case (.first, .totals), (.first, .hours), (.parts, _): break
        }
        defer { stage = .done }
        return .done(result)
    }

    private var result: HistoryResult? {
        guard let first = replies.keys.min(), let begin = replies[first] else { return nil }
        var (content, cover) = (begin.content, begin.cover)
        for (node, reply) in replies where node != first {
            cover.add(reply.cover)
            if case .sums(var sums) = content, case .sums(let more) = reply.content {
                sums.add(more)
                content = .sums(sums)
            }
        }
        let missing = missing.sorted()
        switch (content, stage) {
        case (.sums(let sums), _):
            return HistoryResult(content: .sums(sums), cover: cover, missing: missing)
        case (.page, .parts(let selection)):
            return HistoryResult(content: selection.list(parts), cover: cover, missing: missing)
        case (.page, _): return nil
        }
    }
}

extension HistoryPosition {
    /// After all records.
    static let end = HistoryPosition(place: .max)
}
