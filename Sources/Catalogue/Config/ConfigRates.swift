import Basics

extension ConfigKey {
    /// How much a device, an app or a sender may send or be sent; 0 is no bound.
    static let rates: [ConfigKey: Entry] = [
        .deviceMessagesPerMinute: rate(
            Limits.Message.deviceMessagesPerMinute,
            help: "Messages that one device may be sent in a minute, and at once; 0: as many as like.",
            reason: "FCM has 240; more are answered with DEVICE_MESSAGE_RATE_EXCEEDED."),
        .deviceMessagesPerHour: rate(
            Limits.Message.deviceMessagesPerHour,
            help: "Messages that one device may be sent in an hour; 0: as many as like.",
            reason: "FCM has 5000; more are answered with DEVICE_MESSAGE_RATE_EXCEEDED."),
        .senderMessagesPerMinute: rate(
            0,
            help:
                "Messages that one sender may send in a minute, over all its connections; 0: as many as like.",
            reason:
                "Keeps one sender from taking the whole server. More are answered with SERVICE_UNAVAILABLE; each partition of the store allows an equal share, and at least what one device may be sent (device_messages_per_minute), so messages to few devices may be refused earlier."
        ),
        .collapsibleBurst: Entry(
            type: .integer(0...10_000), preset: .integer(0), unit: "messages",
            help:
                "Messages with a collapse key that one app of one device gets at once; 0: as many as like.",
            reason:
                "FCM has \(Limits.Message.collapsibleBurst). Further ones are not refused: they wait, the newest of a key replaces the one before, and what came later may overtake them. Off, since a delay that nobody asked for is taken for a fault.",
            isReloadable: true),
        .collapsibleRefillSeconds: Entry(
            type: .integer(1...86_400), preset: .integer(Limits.Message.collapsibleRefillSeconds),
            unit: "seconds",
            help: "Time in which one of collapsible_burst comes back.", reason: "FCM has three minutes.",
            isReloadable: true),
        .deviceUpstreamPerMinute: rate(
            Limits.Message.upstreamPerDeviceAndMinute,
            help: "Upstream messages that one device may send in a minute, and at once; 0: as many as like.",
            reason: "FCM has 1000; the app hears TooManyMessages for more."),
        .senderUpstreamPerMinute: rate(
            Limits.Message.upstreamPerSenderAndMinute,
            help: "Upstream messages to one sender in a minute, and at once; 0: as many as like.",
            reason: "FCM has 1500000; the app hears TooManyMessages for more."),
        .topicChangesPerSecond: rate(
            Limits.Topic.changesPerSecond, unit: "subscriptions",
            help:
                "Subscriptions to topics that app servers of one sender may make or end in a second, and at once; 0: as many as like.",
            reason:
                "FCM has 3000. More are answered with 429, or RESOURCE_EXHAUSTED for the token of a batch; each partition of the store allows an equal share, and at least as many as one device may be sent messages in a minute. What apps subscribe themselves does not count."
        ),
    ]

    private static func rate(
        _ preset: Int, unit: String = "messages", help: String, reason: String
    ) -> Entry {
        Entry(
            type: .integer(0...Limits.Message.highestRate), preset: .integer(preset), unit: unit, help: help,
            reason: reason, isReloadable: true)
    }
}
