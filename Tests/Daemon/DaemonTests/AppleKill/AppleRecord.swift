/// What app servers have sent and what Apple has answered, from which it finds messages that are lost, repeated or out of order.
///
/// Apple's log is the truth. A message is a number, and the numbers for one device rise in the order of sending. Apple settles a message
/// with 200, or with a refusal that is final.
struct AppleRecord {
    private struct ConnectionID: Hashable {
        /// The mock counts connections from 1 again when it is restarted.
        let mockRun: Int
        let number: Int
    }

    private struct Connection {
        /// The run of the daemon that opened it.
        let daemonRun: Int
        /// The answers that the daemon has certainly read.
        var proven = 0
    }

    private struct Answer {
        let connection: ConnectionID
        /// Its position among the answers of the connection, from 1.
        let position: Int
        let isAccepted: Bool
        /// Whether a later message for the device shows that the daemon has read it.
        var isRead = false
    }

    private struct Message {
        let device: String
        var isAccepted = false
        var answer: Answer?
    }

    private var messages: [Message] = []
    private var connections: [ConnectionID: Connection] = [:]
    /// The latest message of each device that Apple has got.
    private var latest: [String: Int] = [:]
    private var mockRun = 0
    private var daemonRun = 0
    /// Accepted messages of each device that are not settled.
    private var waitingOf: [String: Int] = [:]
    /// Messages of each device that the running daemon has not answered.
    private var unansweredOf: [String: Int] = [:]

    /// Accepted messages that are not settled.
    private(set) var waiting = 0
    private(set) var accepted = 0
    private(set) var settled = 0
    /// Requests that Apple has answered or deliberately left unanswered.
    private(set) var requests = 0
    /// Settled again, because the daemon may not have read Apple's first answer.
    private(set) var repeatedUnread = 0
    /// Settled again, because the daemon was killed after it had read Apple's first answer, before it had stored that.
    private(set) var repeatedAfterKill = 0
    /// Accepted messages that were not settled when the daemon was killed, of all kills.
    private(set) var waitingAtKills = 0

    /// Messages that Apple got after a later one for the same device.
    private(set) var reordered: [Int] = []
    /// Messages that were sent again although the daemon had read Apple's answer and was not killed since.
    private(set) var duplicated: [Int] = []
    /// Requests for a message that was not sent, or to another device.
    private(set) var unknown: [String] = []
    private var refusals: [(number: Int, error: String)] = []

    var sent: Int { messages.count }
    /// Messages that Apple has refused for good.
    var refusedByApple: Int { messages.count { $0.answer?.isAccepted == false } }
    /// Accepted messages that Apple has not settled.
    var lost: [Int] {
        messages.indices.filter { messages[$0].isAccepted && messages[$0].answer == nil }.map { $0 + 1 }
    }

    /// Refusals of the daemon that were not Apple's.
    var refused: [String] {
        refusals.filter { messages[$0.number - 1].answer?.isAccepted != false }.map {
            "\($0.number): \($0.error)"
        }
    }

    /// Messages for a device that may be on their way: accepted and not settled, or not answered by the running daemon.
    func open(of device: String) -> Int { (waitingOf[device] ?? 0) + (unansweredOf[device] ?? 0) }

    // MARK: The app servers

    /// Records a message that is being sent. Returns its number.
    mutating func send(to device: String) -> Int {
        messages.append(Message(device: device))
        unansweredOf[device, default: 0] += 1
        return messages.count
    }

    /// Records that the daemon has accepted a message.
    mutating func accept(_ number: Int) {
        messages[number - 1].isAccepted = true
        unansweredOf[messages[number - 1].device, default: 0] -= 1
        accepted += 1
        guard messages[number - 1].answer == nil else { return }
        waiting += 1
        waitingOf[messages[number - 1].device, default: 0] += 1
    }

    /// Records that the daemon has refused a message, which it may only do after Apple.
    mutating func refuse(_ number: Int, _ error: String) {
        unansweredOf[messages[number - 1].device, default: 0] -= 1
        refusals.append((number, error))
    }

    /// Records that the daemon was killed, when all events of before have been read.
    mutating func killDaemon() {
        daemonRun += 1
        waitingAtKills += waiting
        unansweredOf.removeAll()
    }

    // MARK: Apple's log

    /// Records an event of the log.
    mutating func read(_ event: [String: Any]) {
        let connection = (event["conn"] as? Int).map { ConnectionID(mockRun: mockRun, number: $0) }
        switch (event["event"] as? String, connection) {
        case ("listening", _): mockRun += 1
        case ("open", let id?): connections[id] = Connection(daemonRun: daemonRun)
        case ("proven", let id?): connections[id]?.proven = event["answers"] as? Int ?? 0
        case (nil, let id?):
            // Other requests are the tests of the credential.
            guard let text = (event["payload"] as? [String: Any])?["n"] as? String else { return }
            request(text, event, id)
        default: break
        }
    }

    private mutating func request(_ text: String, _ event: [String: Any], _ connection: ConnectionID) {
        let device = event["token"] as? String ?? ""
        guard let number = Int(text), messages.indices.contains(number - 1),
            messages[number - 1].device == device
        else { return unknown.append("\(text) to \(device)") }
        requests += 1
        let before = latest[device] ?? number
        if number < before { reordered.append(number) }
        if number > before { messages[before - 1].answer?.isRead = true }
        latest[device] = max(number, before)
        guard let status = event["status"] as? Int, status == 200 || status == 413,
            let position = event["answer"] as? Int
        else { return }
        settle(number, Answer(connection: connection, position: position, isAccepted: status == 200))
    }

    private mutating func settle(_ number: Int, _ answer: Answer) {
        defer { messages[number - 1].answer = answer }
        guard let first = messages[number - 1].answer else {
            settled += 1
            guard messages[number - 1].isAccepted else { return }
            waiting -= 1
            waitingOf[messages[number - 1].device, default: 0] -= 1
            return
        }
        guard let old = connections[first.connection], let new = connections[answer.connection] else {
            return duplicated.append(number)
        }
        if !first.isRead, first.position > old.proven {
            repeatedUnread += 1
        } else if old.daemonRun != new.daemonRun {
            repeatedAfterKill += 1
        } else {
            duplicated.append(number)
        }
    }
}
