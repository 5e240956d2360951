public import Basics
public import Delivery

/// Turns deliveries into requests to APNs (apns 3.3 to 3.5). A delivery gives the same request at each attempt.
public enum APNsMapper {
    /// Returns the request for a delivery.
    ///
    /// Throws `APNsRefusal` of kind `tooLarge` if the payload is larger than Apple accepts, and `invalid`, with the word that Apple
    /// would use, if a value of the app server has no meaning for Apple.
    public static func request(
        for delivery: GatewayDelivery, settings: APNsMappingSettings, now: UnixMilliseconds
    ) throws(APNsRefusal) -> APNsRequest {
        let message = delivery.message
        let block = try APNsBlock(message.apns ?? [])
        let content = try APNsContent(message.body, replacedBy: block.common)
        var aps = try APSFields(content.notification, image: block.image ?? content.image)
        aps.merge(block.aps)
        let headers = try APNsHeaders(block.headers)
        let kind = try kind(headers, block, aps, bundle: delivery.app.parts.category)
        if kind.type == .background { aps.markBackground() }
        var payload = APNsPayload(aps)
        payload.add(content, block, image: block.image ?? content.image)
        payload.addIdentity(of: delivery, block, isBackground: kind.type == .background)
        let limit = kind.type.payloadLimit
        var bytes = payload.bytes(withOptional: true)
        if bytes.count > limit { bytes = payload.bytes(withOptional: false) }
        guard bytes.count <= limit else { throw APNsRefusal(.tooLarge) }
        guard let token = try liveActivityToken(block) ?? delivery.deviceToken else {
            throw invalid("BadDeviceToken")
        }
        var request = APNsRequest(
            deviceToken: token,
            environment: delivery.environment, topic: kind.topic, pushType: kind.type,
            priority: try priority(headers, block, kind.type, settings),
            expiration: try expiration(headers, block, delivery, now),
            collapseID: try headers.collapseID ?? collapseID(of: delivery, content, settings),
            id: try headers.id ?? message.persistentID.appleID(for: message.device), payload: bytes)
        request.extraHeaders = headers.others
        return request
    }

    /// Returns a refusal of a value of the app server, with Apple's word for it.
    static func invalid(_ reason: String) -> APNsRefusal {
        APNsRefusal(.invalid, APNsVerdict(status: 0, reason: reason))
    }

    /// Returns the push type and the topic that belongs to it.
    ///
    /// The type is that of the header, of the topic's suffix, or what the payload shows. Another app's topic is refused here, because
    /// Apple's answer to it looks like a bad credential.
    private static func kind(
        _ headers: APNsHeaders, _ block: APNsBlock, _ aps: APSFields, bundle: [UInt8]
    ) throws(APNsRefusal) -> (type: APNsPushType, topic: [UInt8]) {
        var type = try headers.pushType
        let topic = headers.topic
        if type == nil, let topic {
            type = APNsPushType.allCases.first {
                !"\($0.topicSuffix)".isEmpty && topic == bundle + Array("\($0.topicSuffix)".utf8)
            }
        }
        if !block.liveActivityToken.isEmpty {
            guard type == nil || type == .liveActivity else { throw invalid("InvalidPushType") }
            type = .liveActivity
        }
        let chosen = type ?? (aps.isShown ? .alert : .background)
        // Most types have no suffix, and so need no copy.
        let expected =
            chosen.topicSuffix.utf8CodeUnitCount == 0 ? bundle : bundle + Array("\(chosen.topicSuffix)".utf8)
        guard topic == nil || topic == expected else { throw invalid("BadTopic") }
        return (chosen, expected)
    }

    private static func liveActivityToken(_ block: APNsBlock) throws(APNsRefusal) -> AppleToken.Digits? {
        guard !block.liveActivityToken.isEmpty else { return nil }
        let text = block.liveActivityToken.filter { !$0.isWhitespace && $0 != "<" && $0 != ">" }
        guard let digits = AppleToken.Digits(Array(text.utf8)[...]) else { throw invalid("BadDeviceToken") }
        return digits
    }

    private static func priority(
        _ headers: APNsHeaders, _ block: APNsBlock, _ type: APNsPushType, _ settings: APNsMappingSettings
    ) throws(APNsRefusal) -> Int {
        let given = try headers.priority
        // Apple refuses any other priority of a background push.
        if type == .background { return 5 }
        return given ?? (settings.uses2015Priority && !block.common.isV1 ? 5 : 10)
    }

    private static func expiration(
        _ headers: APNsHeaders, _ block: APNsBlock, _ delivery: GatewayDelivery, _ now: UnixMilliseconds
    ) throws(APNsRefusal) -> Int64 {
        if let given = try headers.expiration { return given }
        let message = delivery.message
        if block.common.isV1 {
            return message.acceptedAt / 1_000 + Int64(Limits.APNs.lifetimeSeconds)
        }
        guard delivery.isStored, message.expiresAt > message.acceptedAt else { return 0 }
        // In its last second, the message has one attempt left: a past time would look like a mistake.
        let seconds = message.expiresAt / 1_000
        return seconds > now / 1_000 ? seconds : 0
    }

    /// Returns the collapse ID that the settings make from the message, or `nil`.
    private static func collapseID(
        of delivery: GatewayDelivery, _ content: APNsContent, _ settings: APNsMappingSettings
    ) -> [UInt8]? {
        guard settings.collapseKeyToAPNs else { return nil }
        // The bundle ID is the default key of notifications, under which all of them would replace each other on the screen.
        let key = delivery.message.collapseKey.flatMap { $0 == delivery.app.parts.category ? nil : $0 }
        guard let key = key ?? content.tag.map({ Array($0.utf8) }), !key.isEmpty else { return nil }
        let isHeader = key.allSatisfy { (0x21...0x7E).contains($0) }
        guard key.count > Limits.APNs.collapseIDBytes || !isHeader else { return key }
        return Array(Hex.text(settings.digest(key)).utf8)
    }
}
