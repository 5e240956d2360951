import Basics
import Delivery

/// What a partition waits for at other partitions.
struct WorldElsewhere {
    /// The upstream messages whose senders have not answered.
    var upstream: Set<UInt32> = []
    /// The messages to topics that not all partitions have, oldest first.
    var messages: [TopicMessage] = []
    /// The partitions that are to answer which of them they have, and those to ask again, from the next tick on.
    var asked: Set<Int> = []
    var retries: Set<Int> = []
    /// Up to where each partition has them.
    var copied = Array(repeating: SequenceNumber(0), count: NodeWorld.partitions)
    /// The requests whose messages all partitions have.
    var done: [UInt32] = []
    /// Answers to what does not wait.
    var strays = 0
    /// Later processes have later numbers, so that no answer to an earlier one counts.
    private var lastSequence: UInt64

    init(after number: UInt64) { lastSequence = number }

    /// Whether other partitions owe it nothing.
    var isEmpty: Bool { upstream.isEmpty && messages.isEmpty }

    mutating func add(_ request: UInt32, of sender: SenderID, _ target: TopicTarget) {
        lastSequence += 1
        let name = TopicMessageName(sender: sender, sequence: SequenceNumber(lastSequence))
        messages.append(
            TopicMessage(
                name: name, salt: 0, target: target, messageID: Array("\(request)".utf8), acceptedAt: 0,
                expiresAt: 1, body: []))
    }
}

/// Requests that concern two partitions: upstream messages, of the device and the sender, and messages to topics, of the sender and of
/// all devices.
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
            elsewhere.add(requester.requestID, of: sender, submission.target)
            passOn()
        case .topicLog(_, .published(let messages, let source)): published(messages, from: source)
        case .topicLog(_, .copied(let partition, let through)): copied(by: partition, through)
        default: break
        }
    }

    /// Passes the messages to topics on to the partitions that do not have them.
    private func passOn() {
        for partition in 0..<NodeWorld.partitions
        where !elsewhere.asked.contains(partition) && !elsewhere.retries.contains(partition) {
            let missing = elsewhere.messages.filter { $0.name.sequence > elsewhere.copied[partition] }
            guard !missing.isEmpty else { continue }
            elsewhere.asked.insert(partition)
            forward(.topicLog(partition, .published(missing, from: self.partition)))
        }
    }

    /// Messages to topics reach the devices of the partition.
    private func published(_ messages: [TopicMessage], from source: Int) {
        for message in messages where topics.insert(message.request).inserted {
            change(
                .topic, DeviceID(UInt64(partition)),
                Requester(connection: Self.none, requestID: message.request))
        }
        guard let last = messages.last else { return }
        forward(.topicLog(source, .copied(by: partition, through: last.name.sequence)))
    }

    private func copied(by partition: Int, _ through: SequenceNumber?) {
        elsewhere.asked.remove(partition)
        if let through {
            elsewhere.copied[partition] = max(elsewhere.copied[partition], through)
        } else {
            elsewhere.retries.insert(partition)
        }
        let least = elsewhere.copied.min() ?? SequenceNumber(0)
        elsewhere.done += elsewhere.messages.prefix { $0.name.sequence <= least }.map(\.request)
        elsewhere.messages.removeAll { $0.name.sequence <= least }
        passOn()
    }

    /// Asks the partitions again that could not store what they were passed on.
    func tick() {
        elsewhere.retries = []
        passOn()
    }

    private static let none = ConnectionID(reactor: 0, slot: 0, generation: 0)
}

extension TopicMessage {
    /// The request that has sent it, which is its ID.
    fileprivate var request: UInt32 { UInt32(String(decoding: messageID, as: UTF8.self)) ?? 0 }
}
