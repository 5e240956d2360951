import Operator
import Wire

/// Samples of the commands for credentials for APNs.
extension Samples {
    private static let apnsCertificate: JSONValue = [
        "credential": "0a1b2c3d4e5f6071", "kind": "certificate", "bundle_id": "com.example.app",
        "environments": ["production", "sandbox"], "topics": ["com.example.app"], "added_at": time,
        "expires_at": time, "days_left": -1,
    ]
    private static let apnsKey: JSONValue = [
        "credential": "ABC123DEFG", "kind": "key", "sender_id": "4711", "team_id": "TEAM123456",
        "key_id": "ABC123DEFG",
        "environments": ["sandbox"], "topics": [], "added_at": time,
    ]
    private static let apnsTests: JSONValue = [
        ["environment": "sandbox", "result": "accepted", "detail": "400 BadDeviceToken"],
        ["environment": "production", "result": "not_tested", "detail": "the gateway is off"],
    ]

    private static let apnsStates: JSONValue = [
        [
            "credential": "ABC123DEFG", "environment": "sandbox", "health": "refused", "status": 403,
            "reason": "Forbidden", "refused_topics": ["com.example.app"], "connections": 1,
            "requests_in_flight": 2, "waiting": 3, "failing_seconds": 5, "token_age_seconds": 4,
        ],
        [
            "credential": "0a1b2c3d4e5f6071", "environment": "production", "health": "clock_doubted",
            "refused_topics": [], "connections": 0, "requests_in_flight": 0, "waiting": 0,
        ],
    ]

    /// The sample of a command for credentials.
    static func apns(_ operation: any OperatorCommand.Type) -> Sample {
        switch operation {
        case is AddAPNsCredential.Type:
            Sample(
                arguments: [
                    [
                        "file": "U0VDUkVU", "private_key": "U0VDUkVU", "password": "SECRET",
                        "key_id": "ABC123DEFG", "team_id": "TEAM123456", "bundle_id": "com.example.app",
                        "sender_id": "4711", "environment": "sandbox", "test_bundle_id": "com.example.other",
                    ]
                ],
                answers: [
                    [
                        "credential": apnsKey, "replaced": ["0a1b"], "warnings": ["it expires"],
                        "tests": apnsTests,
                    ],
                    ["credential": apnsCertificate, "replaced": [], "warnings": [], "tests": []],
                ])
        case is ListAPNsCredentials.Type:
            Sample(
                arguments: [[:]],
                answers: [
                    [
                        "credentials": [apnsCertificate, apnsKey], "states": apnsStates,
                        "unreadable": [["file": "/a", "problem": "it is incomplete"]],
                    ],
                    [
                        "credentials": [], "states": [], "problem": "the gateway did not answer",
                        "unreadable": [],
                    ],
                ])
        case is ListAPNsFeedback.Type:
            Sample(
                arguments: [
                    ["sender_id": "4711", "limit": 5, "since": "1700000000000-1-2"], ["sender_id": "4711"],
                ],
                answers: [
                    [
                        "items": [
                            [
                                "registration_id": "abc", "apns_token": "a1", "environment": "sandbox",
                                "bundle_id": "com.example.app", "invalid_since": time, "seen_at": time,
                                "status": 410, "reason": "Unregistered",
                            ]
                        ], "next": "1700000000000-1-2",
                    ],
                    ["items": [], "next": nil],
                ])
        case is ShowAPNsCredential.Type:
            Sample(
                arguments: [["credential": "ABC123DEFG"]],
                answers: [
                    [
                        "credential": apnsCertificate, "name": "Apple Push Services: com.example.app",
                        "issuer": "Apple", "fingerprint": "0a1b", "warnings": [],
                    ],
                    ["credential": apnsKey, "fingerprint": "0a1b", "warnings": []],
                ])
        case is TestAPNsCredential.Type:
            Sample(
                arguments: [["credential": "ABC123DEFG", "test_bundle_id": "com.example.app"]],
                answers: [["tests": apnsTests]])
        default:
            Sample(
                arguments: [["credential": "ABC123DEFG"]], answers: [["credential": "ABC123DEFG"]])
        }
    }
}
