public import Basics
public import History

/// The questions of this node to the histories of all nodes, until they are answered, lost or overdue.
public struct HistoryInquiries: Sendable {
    /// The number that the shell gives a request of this node.
    public typealias Number = UInt64

    /// What the shell is to do.
    public enum Effect: Sendable, Equatable {
        /// Ask a node, which may be this one, and report its answer under this number; or that it cannot be asked, as no answer.
        case ask(NodeNumber, HistoryQuestion, number: Number)
        /// A request has its result. `nil`: no node has answered.
        case done(Number, HistoryResult?)
    }

    private struct Open {
        var request: Number
        var inquiry: HistoryInquiry
        var until: Instant
    }

    /// By the number of the last questions: an answer to earlier ones is none.
    private var open: [Number: Open] = [:]
    /// Begins anywhere: an answer to an earlier process of this node is none to this one.
    private var lastNumber: Number

    /// Starts without questions.
    public init(after number: Number) { lastNumber = number }

    /// How many requests are open.
    public var count: Int { open.count }

    /// Begins a request to some nodes.
    public mutating func begin(
        _ request: HistoryRequest, _ number: Number, nodes: [NodeNumber], now: Instant,
        effects: inout [Effect]
    ) {
        guard open.count < Limits.History.openInquiries else { return effects.append(.done(number, nil)) }
        let inquiry = HistoryInquiry(request, of: nodes)
        let until = now.advanced(milliseconds: Limits.History.nodesMilliseconds)
        ask(Open(request: number, inquiry: inquiry, until: until), inquiry.questions, &effects)
    }

    /// A node has answered; `nil`: it cannot, or cannot be asked.
    public mutating func receive(
        _ reply: HistoryReply?, to number: Number, from node: NodeNumber, effects: inout [Effect]
    ) {
        guard var entry = open[number] else { return }
        let next = entry.inquiry.receive(reply, from: node)
        open[number] = entry
        advance(number, next, &effects)
    }

    /// The link to a node is lost, with its answers.
    public mutating func lose(_ node: NodeNumber, effects: inout [Effect]) {
        for number in open.keys.sorted() { receive(nil, to: number, from: node, effects: &effects) }
    }

    /// Ends what is overdue without the answers that are missing.
    public mutating func tick(_ now: Instant, effects: inout [Effect]) {
        end(&effects) { $0.until <= now }
    }

    /// Ends all requests.
    public mutating func stop(effects: inout [Effect]) { end(&effects) { _ in true } }

    private mutating func end(_ effects: inout [Effect], _ isDue: (Open) -> Bool) {
        guard !open.isEmpty else { return }
        for (number, entry) in open.sorted(by: { $0.key < $1.key }) where isDue(entry) {
            var inquiry = entry.inquiry
            advance(number, inquiry.giveUp(), &effects)
        }
    }

    private mutating func advance(_ number: Number, _ next: HistoryInquiry.Next, _ effects: inout [Effect]) {
        switch next {
        case .wait: break
        case .ask(let questions):
            guard let entry = open.removeValue(forKey: number) else { return }
            ask(entry, questions, &effects)
        case .done(let result):
            guard let entry = open.removeValue(forKey: number) else { return }
            effects.append(.done(entry.request, result))
        }
    }

    private mutating func ask(
        _ entry: Open, _ questions: [HistoryInquiry.Question], _ effects: inout [Effect]
    ) {
        lastNumber &+= 1
        open[lastNumber] = entry
        for question in questions {
            effects.append(.ask(question.node, question.question, number: lastNumber))
        }
    }
}
