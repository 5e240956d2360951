extension Metric {
    /// The HTTP endpoints, as metrics name them: `none` for a request that matches no endpoint, then those of the endpoint
    /// table, by method and path; a test compares them.
    public static let httpEndpoints = [
        "none",
        "POST /checkin",
        "POST /c2dm/register3",
        "POST /register",
        "POST /iid/register",
        "POST /v1/projects/{project}/installations",
        "POST /v1/projects/{project}/installations/{installation}/authTokens:generate",
        "DELETE /v1/projects/{project}/installations/{installation}",
        "POST /v1/projects/{project}/registrations",
        "PATCH /v1/projects/{project}/registrations/{registration}",
        "DELETE /v1/projects/{project}/registrations/{registration}",
        "POST /v1/projects/{project}/registrations/{registration}/topicSubscriptions/{topic}:subscribe",
        "POST /v1/projects/{project}/registrations/{registration}/topicSubscriptions/{topic}:unsubscribe",
        "POST /fcm/connect/subscribe",
        "POST /fcm/send",
        "POST /gcm/send",
        "POST /fcm/notification",
        "POST /gcm/notification",
        "GET /fcm/notification",
        "GET /gcm/notification",
        "GET /iid/info/{token}",
        "POST /iid/v1/{token}/rel/topics/{topic}",
        "DELETE /iid/v1/{token}/rel/topics/{topic}",
        "POST /iid/v1:batchAdd",
        "POST /iid/v1:batchRemove",
        "POST /iid/v1:batchImport",
        "GET /v1/apps/{bundle}/apns/feedback",
        "POST /v1/projects/{project}/messages:send",
        "GET /v1/projects/{project}/messages/{message}",
        "GET /v1/projects/{project}/deliveryData",
        "DELETE /v1/projects/{project}/registrations/{registration}/messages/{message}",
        "GET /v1/projects/{project}/topics",
        "GET /v1/projects/{project}/topics/{topic}/subscribers",
        "GET /v1/projects/{project}/scheduledMessages",
        "POST /batch",
        "POST /v1/projects/{project}/registrations/{registration}/topicSubscriptions",
        "GET /v1/projects/{project}/registrations/{registration}/topicSubscriptions",
        "GET /v1/projects/{project}/registrations/{registration}/topicSubscriptions/{topic}",
        "PATCH /v1/projects/{project}/registrations/{registration}/topicSubscriptions/{topic}",
        "DELETE /v1/projects/{project}/registrations/{registration}/topicSubscriptions/{topic}",
        "POST /fcm/send/{token}",
        "POST /gcm/send/{token}",
        "POST /wp/{token}",
        "GET /v1/projects/{project}/serviceAccounts/{account}/allowedLocations",
        "POST /token",
        "POST /oauth2/v4/token",
        "POST /o/oauth2/token",
        "GET /openapi.json",
        "GET /healthz",
        "GET /readyz",
        "GET /metrics",
    ]

    /// The status codes of the server's responses; a test compares them with the table.
    public static let httpStatuses = [
        200, 201, 204, 304, 307, 400, 401, 403, 404, 405, 408, 409, 410, 411, 413, 414, 415, 417, 421, 429,
        431, 500,
        501, 503, 505,
    ]

    /// The values of the label `class`: the first digit of the status; 304 and 307 count as 2xx, since they are successes as well.
    public static let statusClasses = ["2xx", "4xx", "5xx"]

    /// Bounds for what happens inside the server, in microseconds: from 0.1 ms to 10 s.
    static let innerBounds = [
        100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000,
        2_500_000, 5_000_000, 10_000_000,
    ]

    /// The queries of the store, as the label `query` names them; a test compares them with `StoreQuery`.
    public static let storeQueries = [
        "device", "messages", "gateway_message", "gateway_devices", "upstream", "expired", "unseen", "group",
        "group_labelled", "installation", "unused_installations", "topic_messages", "topic_entries",
        "topic_devices", "named", "schedule",
    ]
}
