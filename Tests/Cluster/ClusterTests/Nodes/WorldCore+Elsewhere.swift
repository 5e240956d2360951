import Basics
import Delivery

/// What a partition waits for at other partitions.
struct WorldElsewhere {
    /// A message to a topic that is being sent to its subscribers.
    struct Run {
        var sender: SenderID
        var requester: Requester
        var pending = 0
        var reached = 0
        var isRefused = false
    }

    /// The upstream messages whose senders have not answered.
    var upstream: Set<UInt32> = []
    var runs: [UInt32: Run] = [:]
    /// The runs start anywhere, so that no answer to another process counts.
    var lastRun: UInt32
    /// The runs to send again, from the next tick on.
    var retries: [Run] = []
    /// The requests whose messages all their subscribers have, and how many those are.
    var done: [(request: UInt32, reached: Int)] = []
    /// Answers to what does not wait.
    var strays = 0

    init(lastRun: UInt32) { self.lastRun = lastRun }

    /// Whether other partitions owe it nothing.
    var isEmpty: Bool { upstream.isEmpty && runs.isEmpty && retries.isEmpty }
}

/// Requests that concern two partitions: upstream messages, of the device and the sender, and messages to topics, of the sender and the
/// subscribers.
extension WorldCore {
    func handleOfDevice(_ event: Event) {
        switch event {
        case .device(_, .upstreamReceived(let upstream)):
            elsewhere.upstream.insert(upstream.requester.requestID)
            let name = RegistrationName(device: upstream.device, number: RegistrationNumber(1))
            forward(.sender(upstream.sender, .upstreamResolved(upstream, from: TokenName(name))))
        case .device(_, .upstreamAnswered(_, let requester)):
            if elsewhere.upstream.remove(requester.requestID) == nil { elsewhere.strays += 1 }
        default: break
        }
    }

    /// A message to a topic reaches a subscriber.
    func submitted(_ submission: Submission, _ device: DeviceID) {
        guard case .topic(let sender, let run) = submission.replyTo, let requester = submission.topicRequester
        else { return }
        let isKnown = devices[device.number] == true
        if isKnown { change(.topic, device, requester) }
        forward(.topic(sender, .answered(run: run, isKnown ? .reached : .skipped)))
    }

    func handleOfSender(_ event: Event) {
        switch event {
        case .sender(let sender, .login(let connection, let key)): login(connection, sender, key)
        case .sender(_, .closed(let connection)): appServers[connection] = nil
        case .sender(_, .upstreamResolved(let upstream, let token)):
            let requester = upstream.requester
            change(.upstream, upstream.device, requester)
            answer(requester.connection, .device(.upstreamStored(requestID: requester.requestID)))
            forward(.device(upstream.device, .upstreamAnswered(token.registration.number, requester)))
        case .topic(let sender, .submitted(let submission)):
            let requester = submission.requester
            answer(
                requester.connection,
                .submission(requestID: requester.requestID, .accepted(id: nil, canonical: nil)))
            send(WorldElsewhere.Run(sender: sender, requester: requester))
        case .topic(_, .answered(let number, let reply)): answered(number, reply)
        default: break
        }
    }

    private func send(_ run: WorldElsewhere.Run) {
        var run = run
        (run.pending, run.reached, run.isRefused) = (NodeWorld.devices.count, 0, false)
        elsewhere.lastRun &+= 1
        elsewhere.runs[elsewhere.lastRun] = run
        for device in NodeWorld.devices {
            forward(.submitted(.toTopic(run.sender, elsewhere.lastRun, DeviceID(device), run.requester)))
        }
    }

    private func answered(_ number: UInt32, _ answer: TopicAnswer) {
        guard var run = elsewhere.runs[number] else { return elsewhere.strays += 1 }
        run.pending -= 1
        switch answer {
        case .reached: run.reached += 1
        case .skipped: break
        case .unavailable: run.isRefused = true
        }
        elsewhere.runs[number] = run.pending > 0 ? run : nil
        guard run.pending == 0 else { return }
        if run.isRefused {
            elsewhere.retries.append(run)
        } else {
            elsewhere.done.append((run.requester.requestID, run.reached))
        }
    }

    /// Sends the messages to topics again that not all subscribers have.
    func tick() {
        let retries = elsewhere.retries
        elsewhere.retries = []
        for run in retries { send(run) }
    }
}

extension Submission {
    /// A message to a topic for one of its subscribers; its content names the request.
    fileprivate static func toTopic(
        _ sender: SenderID, _ run: UInt32, _ device: DeviceID, _ requester: Requester
    ) -> Submission {
        Submission(
            replyTo: .topic(sender, run: run), submitter: requester.connection, entitlement: .account(sender),
            target: RegistrationName(device: device, number: RegistrationNumber(1)),
            content: MessageContent(messageID: Array("\(requester.requestID)".utf8), body: []), topic: nil)
    }

    fileprivate var topicRequester: Requester? {
        guard let connection = submitter,
            let number = UInt32(String(decoding: content.messageID, as: UTF8.self))
        else { return nil }
        return Requester(connection: connection, requestID: number)
    }
}
