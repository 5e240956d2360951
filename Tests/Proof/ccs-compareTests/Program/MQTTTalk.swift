import Basics

/// The side of an MQTT publisher: a login, and packets that are acknowledged by PUBACK, or not at all (QoS 0).
struct PublisherTalk: SenderTalk {
    static let what = "publisher"
    private let client: String
    private var reader = MQTTReader()
    private(set) var isReady = false

    /// Creates a publisher with a client ID.
    init(client: String) { self.client = client }

    mutating func begin(_ outbox: inout Outbox) {
        outbox.bytes.append(MQTT.connect(client: client))
        outbox.endRecord()
    }

    mutating func consume(
        _ bytes: RawSpan, _ outbox: inout Outbox, _ answered: (Answer) -> Void
    ) -> TalkVerdict {
        var verdict = TalkVerdict.fine
        let isMQTT = reader.consume(bytes) { first, body in
            switch MQTT.Kind(rawValue: first >> 4) {
            case .publishAck where body.byteCount >= 2:
                let identifier = UInt16(body.byte(at: 0)) << 8 | UInt16(body.byte(at: 1))
                answered(.number(MQTT.number(of: identifier)))
            case .connectAck where body.byteCount == 2 && body.byte(at: 1) == 0: isReady = true
            default: verdict = .failed("the broker refused the publisher")
            }
        }
        return isMQTT ? verdict : .failed("the broker does not speak MQTT")
    }
}

/// The side of an MQTT subscriber: a login, a subscription, and a PUBACK for each packet of QoS 1.
struct SubscriberTalk: ReceiverTalk {
    static let what = "subscriber"
    private let client: String
    private let topic: String
    private let quality: UInt8
    private var reader = MQTTReader()
    private(set) var isReady = false

    /// Creates a subscriber of one topic with a client ID.
    init(client: String, topic: String, quality: UInt8) {
        self.client = client
        self.topic = topic
        self.quality = quality
    }

    mutating func begin(_ outbox: inout Outbox) {
        outbox.bytes.append(MQTT.connect(client: client))
        outbox.endRecord()
    }

    mutating func consume(
        _ bytes: RawSpan, _ outbox: inout Outbox, _ arrived: (Int64) -> Void
    ) -> TalkVerdict {
        var verdict = TalkVerdict.fine
        let before = outbox.bytes.count
        let isMQTT = reader.consume(bytes) { first, body in
            switch MQTT.Kind(rawValue: first >> 4) {
            case .publish: Self.consume(body, first, &outbox, arrived)
            case .connectAck where body.byteCount == 2 && body.byte(at: 1) == 0:
                outbox.bytes.append(MQTT.subscribe(topic: topic, quality: quality))
            case .subscribeAck where body.byteCount == 3 && body.byte(at: 2) == quality: isReady = true
            default: verdict = .failed("the broker refused the subscriber")
            }
        }
        // The responses to bytes that came together are sent together.
        if outbox.bytes.count > before { outbox.endRecord() }
        return isMQTT ? verdict : .failed("the broker does not speak MQTT")
    }

    private static func consume(
        _ body: RawSpan, _ first: UInt8, _ outbox: inout Outbox, _ arrived: (Int64) -> Void
    ) {
        let wantsAck = first & 6 != 0
        guard body.byteCount >= 4 else { return }
        let topicEnd = 2 + Int(body.byte(at: 0)) << 8 + Int(body.byte(at: 1))
        let payload = topicEnd + (wantsAck ? 2 : 0)
        let timeAt = payload + Template.timeMark.count
        guard timeAt + Template.timeDigits <= body.byteCount else { return }
        arrived(Digits.time(in: body, at: timeAt))
        guard wantsAck else { return }
        outbox.bytes.append([
            0x40, 2, body.byte(at: topicEnd), body.byte(at: topicEnd + 1),
        ])
    }
}
