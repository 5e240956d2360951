import Basics

/// For how long a request waits for a message.
public struct MessageWait: Sendable, Equatable {
    /// Its number, which no other wait has.
    public var id: UInt32
    /// Seconds; 0 if it does not wait.
    public var seconds: Int
    /// The number of messages that it waits for, 1 or more.
    public var count: Int

    /// Creates a wait.
    public init(id: UInt32, seconds: Int, count: Int = 1) {
        self.id = id
        self.seconds = seconds
        self.count = count
    }
}

/// An inbox with the requests that wait for its next message.
final class WatchedInbox<Content: InboxContent> {
    /// What a request gets.
    typealias Completion = (Result<[InboxMessage<Content>], TestBenchProblem>) -> Void

    private struct Reader {
        var id: UInt32
        var after: Int
        var limit: Int
        /// How many messages it waits for.
        var count: Int
        var until: Instant
        var completed: Completion
    }

    private(set) var inbox = Inbox<Content>()
    private var readers: [Reader] = []

    /// How many requests wait.
    var waiting: Int { readers.count }

    /// Answers a request with up to `limit` messages after a number. If there are less than `count` and less than `limit`, it waits
    /// for more until `until`; with `nil` it does not.
    func read(
        after number: Int, limit: Int, id: UInt32 = 0, count: Int = 1, until: Instant?,
        completed: @escaping Completion
    ) {
        let count = min(count, limit)
        let page = inbox.page(after: number, limit: limit)
        guard page.count < count, let until else { return completed(.success(page)) }
        readers.append(
            Reader(id: id, after: number, limit: limit, count: count, until: until, completed: completed))
    }

    /// Answers a request that waits, if this one does: its caller has left.
    func end(waitOf id: UInt32) {
        guard let position = readers.firstIndex(where: { $0.id == id }) else { return }
        readers.remove(at: position).completed(.success([]))
    }

    /// Adds a message, and answers the requests that waited for it.
    func add(_ message: Content, now: UnixMilliseconds, room: Int) {
        inbox.add(message, now: now, room: room)
        let all = readers
        readers = []
        for reader in all {
            let page = inbox.page(after: reader.after, limit: reader.limit)
            if page.count < reader.count { readers.append(reader) } else { reader.completed(.success(page)) }
        }
    }

    /// Removes all messages. Returns how many there were.
    func clear() -> Int {
        defer { inbox.clear() }
        return inbox.messages.count
    }

    /// Answers the requests that have waited long enough, with what there is.
    func endOverdue(_ now: Instant) {
        guard readers.contains(where: { $0.until <= now }) else { return }
        let overdue = readers.filter { $0.until <= now }
        readers.removeAll { $0.until <= now }
        for reader in overdue {
            reader.completed(.success(inbox.page(after: reader.after, limit: reader.limit)))
        }
    }

    /// Answers all requests with a problem, since the inbox ends.
    func end(_ problem: TestBenchProblem) {
        let all = readers
        readers = []
        for reader in all { reader.completed(.failure(problem)) }
    }
}
