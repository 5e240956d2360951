import Basics

extension ConfigKey {
    /// Rate limits per device, app and sender; 0 disables one.
    static let rates: [ConfigKey: Entry] = [
        .deviceMessagesPerMinute: rate(
            Limits.Message.deviceMessagesPerMinute,
            help: "Messages to one device per minute, and at once; 0 disables the limit.",
            reason:
                "FCM has \(Limits.Message.deviceMessagesPerMinute); further ones get DEVICE_MESSAGE_RATE_EXCEEDED."
        ),
        .deviceMessagesPerHour: rate(
            Limits.Message.deviceMessagesPerHour,
            help: "Messages to one device per hour; 0 disables the limit.",
            reason:
                "FCM has \(Limits.Message.deviceMessagesPerHour); further ones get DEVICE_MESSAGE_RATE_EXCEEDED."
        ),
        .senderMessagesPerMinute: rate(
            0,
            help:
                "Messages of one sender per minute, over all its connections; 0 disables the limit.",
            reason:
                "Keeps one sender from using the whole server. Further messages get SERVICE_UNAVAILABLE. Each partition of the store allows an equal share, but at least device_messages_per_minute, so messages to few devices may be refused earlier."
        ),
        .collapsibleBurst: Entry(
            type: .integer(0...10_000), preset: .integer(0), unit: "messages",
            help:
                "Messages with a collapse key that one app on one device gets at once (burst size); 0 disables throttling.",
            reason:
                "FCM has \(Limits.Message.collapsibleBurst). Further ones are not refused but delayed: the newest with a key replaces the previous one, and other messages may overtake them. Off by default, since an unexpected delay looks like a fault.",
            isReloadable: true),
        .collapsibleRefillSeconds: Entry(
            type: .integer(1...86_400), preset: .integer(Limits.Message.collapsibleRefillSeconds),
            unit: "seconds",
            help: "Time after which one more message of collapsible_burst is allowed again.",
            reason: "FCM has three minutes.",
            isReloadable: true),
        .deviceUpstreamPerMinute: rate(
            Limits.Message.upstreamPerDeviceAndMinute,
            help: "Upstream messages of one device per minute, and at once; 0 disables the limit.",
            reason:
                "FCM has \(Limits.Message.upstreamPerDeviceAndMinute); the app gets TooManyMessages for further ones."
        ),
        .senderUpstreamPerMinute: rate(
            Limits.Message.upstreamPerSenderAndMinute,
            help: "Upstream messages to one sender per minute, and at once; 0 disables the limit.",
            reason:
                "FCM has \(Limits.Message.upstreamPerSenderAndMinute); the app gets TooManyMessages for further ones."
        ),
        .topicChangesPerSecond: rate(
            Limits.Topic.changesPerSecond, unit: "subscriptions",
            help:
                "Topic subscriptions and unsubscriptions by app servers of one sender per second, and at once; 0 disables the limit.",
            reason:
                "FCM has \(Limits.Topic.changesPerSecond). Further ones get 429, or RESOURCE_EXHAUSTED for a token of a batch. Each partition of the store allows an equal share, but at least device_messages_per_minute. Subscriptions made by the apps themselves do not count."
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
