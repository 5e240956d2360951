/// The fields of HTTP v1, as protocol buffers messages (http 8.2 to 8.4).
extension ProtoMessage {
    /// The body of a send request.
    static let sendRequest = ProtoMessage(
        "google.firebase.fcm.v1.SendMessageRequest",
        [ProtoField("message", .message(message)), ProtoField("validate_only", .boolean)])

    static let message = ProtoMessage(
        "google.firebase.fcm.v1.Message",
        [
            ProtoField("name", .string), ProtoField("data", .map),
            ProtoField("notification", .message(notification)), ProtoField("android", .message(android)),
            ProtoField("android_v2", .message(androidV2)), ProtoField("webpush", .message(webpush)),
            ProtoField("apns", .message(apns)), ProtoField("fcm_options", .message(options)),
            ProtoField("token", .string, group: "target"), ProtoField("fid", .string, group: "target"),
            ProtoField("topic", .string, group: "target"),
            ProtoField("condition", .string, group: "target"),
            // Extensions of ccsd.
            ProtoField("send_at", .timestamp), ProtoField("replace_message_id", .string),
        ])

    private static let notification = ProtoMessage(
        "google.firebase.fcm.v1.Notification",
        [ProtoField("title", .string), ProtoField("body", .string), ProtoField("image", .string)])

    private static let options = ProtoMessage(
        "google.firebase.fcm.v1.FcmOptions", [ProtoField("analytics_label", .string)])

    // MARK: Android

    private static let androidOptions = ProtoMessage(
        "google.firebase.fcm.v1.AndroidFcmOptions", [ProtoField("analytics_label", .string)])

    private static let android = ProtoMessage(
        "google.firebase.fcm.v1.AndroidConfig",
        androidFields + [
            ProtoField("priority", .enumeration(.priority)),
            ProtoField("notification", .message(androidNotification)),
        ])

    // The options and the last three fields are only validated: this server collects no analytics, and waking a phone before
    // it is unlocked and restricting narrowband or satellite links are decided by services that it does not have.
    private static let androidFields = [
        ProtoField("collapse_key", .string), ProtoField("ttl", .duration),
        ProtoField("restricted_package_name", .string), ProtoField("data", .map),
        ProtoField("fcm_options", .message(androidOptions)), ProtoField("direct_boot_ok", .boolean),
        ProtoField("bandwidth_constrained_ok", .boolean), ProtoField("restricted_satellite_ok", .boolean),
    ]

    private static let androidV2 = ProtoMessage(
        "google.firebase.fcm.v1.AndroidConfigV2",
        androidFields + [
            ProtoField(
                "background_sync", .message(ProtoMessage("google.firebase.fcm.v1.BackgroundSync", [])),
                group: "kind"),
            ProtoField("remote_notification", .message(remoteNotification), group: "kind"),
        ])

    private static let remoteNotification = ProtoMessage(
        "google.firebase.fcm.v1.RemoteNotification",
        [
            ProtoField(
                "notification",
                .message(
                    ProtoMessage(
                        "google.firebase.fcm.v1.AndroidNotificationV2",
                        notificationFields + [ProtoField("id", .int32)]))),
            ProtoField("mutable_content", .boolean), ProtoField("use_as_v1_data_message", .boolean),
        ])

    private static let androidNotification = ProtoMessage(
        "google.firebase.fcm.v1.AndroidNotification",
        notificationFields + [
            // Whether another app may show the notification instead: only validated, since it is never sent to another app.
            ProtoField("bypass_proxy_notification", .boolean), ProtoField("proxy", .enumeration(.proxy)),
        ])

    private static let notificationFields = [
        ProtoField("title", .string), ProtoField("body", .string), ProtoField("icon", .string),
        ProtoField("color", .string), ProtoField("sound", .string), ProtoField("tag", .string),
        ProtoField("click_action", .string), ProtoField("body_loc_key", .string),
        ProtoField("body_loc_args", .repeated(.string)), ProtoField("title_loc_key", .string),
        ProtoField("title_loc_args", .repeated(.string)), ProtoField("channel_id", .string),
        ProtoField("ticker", .string), ProtoField("sticky", .boolean), ProtoField("event_time", .timestamp),
        ProtoField("local_only", .boolean),
        ProtoField("notification_priority", .enumeration(.notificationPriority)),
        ProtoField("default_sound", .boolean), ProtoField("default_vibrate_timings", .boolean),
        ProtoField("default_light_settings", .boolean), ProtoField("vibrate_timings", .repeated(.duration)),
        ProtoField("visibility", .enumeration(.visibility)), ProtoField("notification_count", .int32),
        ProtoField("light_settings", .message(lights)), ProtoField("image", .string),
    ]

    private static let lights = ProtoMessage(
        "google.firebase.fcm.v1.LightSettings",
        [
            ProtoField("color", .message(color)), ProtoField("light_on_duration", .duration),
            ProtoField("light_off_duration", .duration),
        ])

    private static let color = ProtoMessage(
        "google.type.Color",
        [
            ProtoField("red", .float), ProtoField("green", .float), ProtoField("blue", .float),
            ProtoField("alpha", .float),
        ])

    // MARK: Web and Apple

    private static let webpush = ProtoMessage(
        "google.firebase.fcm.v1.WebpushConfig",
        [
            ProtoField("headers", .map), ProtoField("data", .map), ProtoField("notification", .free),
            ProtoField(
                "fcm_options",
                .message(
                    ProtoMessage(
                        "google.firebase.fcm.v1.WebpushFcmOptions",
                        [ProtoField("link", .string), ProtoField("analytics_label", .string)]))),
        ])

    private static let apns = ProtoMessage(
        "google.firebase.fcm.v1.ApnsConfig",
        [
            ProtoField("headers", .map), ProtoField("payload", .free),
            ProtoField(
                "fcm_options",
                .message(
                    ProtoMessage(
                        "google.firebase.fcm.v1.ApnsFcmOptions",
                        [ProtoField("analytics_label", .string), ProtoField("image", .string)]))),
            ProtoField("live_activity_token", .string),
        ])
}

extension ProtoEnumeration {
    static let priority = ProtoEnumeration(
        name: "google.firebase.fcm.v1.AndroidConfig.AndroidMessagePriority", words: ["NORMAL", "HIGH"])
    static let notificationPriority = ProtoEnumeration(
        name: "google.firebase.fcm.v1.AndroidNotification.NotificationPriority",
        words: [
            "PRIORITY_UNSPECIFIED", "PRIORITY_MIN", "PRIORITY_LOW", "PRIORITY_DEFAULT", "PRIORITY_HIGH",
            "PRIORITY_MAX",
        ])
    static let visibility = ProtoEnumeration(
        name: "google.firebase.fcm.v1.AndroidNotification.Visibility",
        words: ["VISIBILITY_UNSPECIFIED", "PRIVATE", "PUBLIC", "SECRET"])
    static let proxy = ProtoEnumeration(
        name: "google.firebase.fcm.v1.AndroidNotification.Proxy",
        words: ["PROXY_UNSPECIFIED", "ALLOW", "DENY", "IF_PRIORITY_LOWERED"])
}
