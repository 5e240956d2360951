import Basics
import Delivery
import History
import Sessions
import Synchronization
import Wire

/// Questions about the history, which one thread answers: a search never delays the writer.
extension HistoryPort {
    /// A question, and what gets the answer; `nil` if the history cannot be read.
    struct Question: Sendable {
        var content: HistoryQuestion
        /// When counting ends, although not all is counted.
        var until: Instant
        var answer: @Sendable (HistoryReply?) -> Void

        init(_ content: HistoryQuestion, _ answer: @escaping @Sendable (HistoryReply?) -> Void) {
            self.content = content
            self.answer = answer
            until = Now.read().monotonic.advanced(seconds: Limits.History.countingSeconds)
        }
    }

    /// What waits for the reader.
    struct Reading {
        var questions: [Question] = []
        var isStopping = false
    }

    /// Answers questions until the port is stopped. Between two parts of a count all others are answered. Before each search `gather` has the
    /// reactors post what they have: a message is found as soon as it is acknowledged.
    func answerQuestions(gather: () -> Void) {
        var counter = HistoryCounter()
        while let question = next() {
            switch question.content {
            case .list, .parts: gather()
            case .hours, .totals: break
            }
            guard let sources = sources() else {
                question.answer(nil)
                continue
            }
            switch question.content {
            case .list(let list):
                var search = HistorySearch(sources, blocks: list.blocks)
                question.answer(search.reply(to: list))
            case .parts(let parts):
                var search = HistorySearch(sources)
                question.answer(search.reply(to: parts))
            case .hours(let start):
                let hours = hours.withLock { $0 }
                question.answer(hours?.reply(from: start))
            case .totals(let sender, let start):
                let isDone =
                    counter.count(sources, upTo: Limits.History.blocksPerCount)
                    || Now.read().monotonic >= question.until
                if isDone || !post(upTo: .max, question) {
                    question.answer(counter.reply(of: sender, from: start, sources))
                }
            }
        }
        readingEnded.fulfil(true)
    }

    private func next() -> Question? {
        reading.wait { reading in
            if !reading.questions.isEmpty { return .done(reading.questions.removeFirst()) }
            return reading.isStopping ? .done(nil) : .wait(until: .distantFuture)
        }
    }

    /// Returns the files with all steps that were posted before. Returns `nil` if they cannot be read now.
    private func sources() -> [HistorySource]? {
        let latch = Latch<[HistorySource]?>()
        let isTaken = call.change { call in
            guard !call.isStopping else { return false }
            call.sources.append(latch)
            return true
        }
        return isTaken ? latch.wait() ?? nil : nil
    }

    /// Posts a question, unless as many are waiting. Returns whether it will be answered.
    func post(upTo limit: Int = Limits.History.waitingQuestions, _ question: Question) -> Bool {
        reading.change { reading in
            guard !reading.isStopping, reading.questions.count < limit else { return false }
            reading.questions.append(question)
            return true
        }
    }

    /// Whether a question would be taken.
    func hasRoom(upTo limit: Int) -> Bool {
        reading.change { !$0.isStopping && $0.questions.count < limit }
    }

    /// Counts a question of an app server. Throws the error if there are too many of its sender; `isKnown` finds the senders to keep.
    func count(_ sender: SenderID, _ now: Now, isKnown: (SenderID) -> Bool) throws(V1Error) {
        try allowance.withLock { allowance throws(V1Error) in
            try allowance.count(sender, now: now.monotonic, isKnown: isKnown)
        }
    }
}

/// What is left of the questions about one subject that the app servers of each sender may ask.
struct SenderAllowance {
    private let subject: String

    private static let rate = Rate(
        Limits.History.senderQuestions, perSeconds: Limits.History.senderQuestionSeconds)
    private var buckets: [SenderID: TokenBucket] = [:]

    init(of subject: String) { self.subject = subject }

    mutating func count(
        _ sender: SenderID, now: Instant, isKnown: (SenderID) -> Bool
    ) throws(V1Error) {
        if buckets[sender] == nil { buckets = buckets.filter { isKnown($0.key) } }
        let next = buckets[sender, default: TokenBucket()].next(Self.rate, now: now)
        guard next <= now else {
            var error = V1Error(
                .tooManyRequests,
                "The project asks for its \(subject) too often: expected up to \(Limits.History.senderQuestions) requests in \(Limits.History.senderQuestionSeconds) s.",
                code: .quotaExceeded)
            error.quotaSubject = "project"
            error.retrySeconds = Int((next.milliseconds(since: now) + 999) / 1_000)
            throw error
        }
        buckets[sender, default: TokenBucket()].consume(Self.rate, now: now)
    }
}
