import Operator
import Wire

/// Arguments and answers of one operation, with all of its fields.
struct Sample {
    /// Arguments; several if some exclude each other.
    var arguments: [JSONValue]
    /// Answers; several if some fields exclude each other.
    var answers: [JSONValue]
    /// The lines before the answer.
    var lines: [(name: String, json: JSONValue)] = []
}

/// A sample of each operation.
enum Samples {
    /// All samples.
    static var all: [String: Sample] {
        Dictionary(uniqueKeysWithValues: Operations.all.map { ($0.summary.name, sample(of: $0)) })
    }

    static let time: JSONValue = "2026-11-20T12:03:04.005Z"
    private static let earlier: JSONValue = "2026-11-19T12:03:04.005Z"
    private static let key: JSONValue = "AIzaSyA-key-of-thirty-nine-characters-0"
    private static let token: JSONValue = "dzxZqRrnxm4:APA91bSECRET"
    private static let installation: JSONValue = "cGFzc3dvcmQ_aGVsbG8tdw"

    private static let figures: JSONValue = [
        "version": "0.1.0", "state": "serving", "uptime_milliseconds": 5_000,
        "downstream": ["accepted": 7], "upstream": ["accepted": 2], "waiting": ["downstream": 1],
        "connections": ["device": 3], "sessions": ["device": 3], "refusals": ["invalid_token": 1],
        "latencies": [
            ["name": "ack_downstream", "count": 7, "microseconds": 900, "buckets": ["100": 3, "more": 4]]
        ],
        "senders": [
            ["sender_id": "5", "downstream": ["accepted": 7], "upstream": ["accepted": 2]],
            ["downstream": ["accepted": 0], "upstream": ["accepted": 0]],
        ],
        "process": ["cpu_microseconds": 12], "test_clock": testClock,
    ]

    /// The sample of an operation, which must have one.
    static func sample(of operation: any OperatorCommand.Type) -> Sample {
        switch operation {
        case is ShowStatus.Type: Sample(arguments: [[:]], answers: [status])
        case is CheckHealth.Type: health
        case is ShowFigures.Type: Sample(arguments: [[:]], answers: [figures])
        case is CheckConfiguration.Type: Sample(arguments: [[:]], answers: [check])
        case is ShowAuthority.Type, is ShowConfiguration.Type, is ChangeLogLevel.Type, is ListAuditLog.Type,
            is SuspendSender.Type, is ResumeSender.Type, is SenderStatistics.Type, is ListMessages.Type,
            is FindMessages.Type, is ListHistory.Type, is CountMessages.Type, is CountHours.Type,
            is CancelMessages.Type, is ListScheduled.Type:
            everyday(operation)
        case is ReloadConfiguration.Type: reload
        case is AddOperator.Type, is ListOperators.Type, is RemoveOperator.Type: operators(operation)
        case is ShowClock.Type:
            Sample(
                arguments: [[:]],
                answers: [
                    [
                        "time": time, "test_clock": testClock, "in_doubt": true, "problem": "behind",
                        "trusted_in_seconds": 60,
                    ]
                ])
        case is AdvanceClock.Type: Sample(arguments: [["duration": "2419200s"]], answers: [testClock])
        case is AcceptClock.Type: Sample(arguments: [[:]], answers: [["accepted": true, "time": time]])
        case is DrainSessions.Type:
            Sample(
                arguments: [
                    [:], ["session": "0-345"], ["sender_id": "5"], ["hold": true], ["release": true],
                ], answers: [["sessions": 3], ["sessions": 3, "state": "drained"]])
        case is AuditStore.Type: Sample(arguments: [[:]], answers: [audit])
        case is ExportRecords.Type, is ImportRecords.Type, is MakeBackup.Type: transfer(operation)
        case is ShowCluster.Type, is HandOverPartition.Type, is RemoveNode.Type, is AdmitNode.Type:
            cluster(operation)
        case is ListSessions.Type:
            Sample(
                arguments: [["limit": 7]],
                answers: [["sessions": [session("sender_id"), session("device")], "left_out": 1]])
        case is SendMessage.Type: message
        case is AddSender.Type, is ListSenders.Type, is RotateKey.Type, is RemoveSender.Type:
            sender(operation)
        case is SetWebhook.Type, is ShowWebhook.Type, is ListWebhooks.Type, is RotateWebhookSecret.Type,
            is PauseWebhook.Type, is ResumeWebhook.Type, is ClearWebhook.Type:
            webhook(operation)
        case is AddAccount.Type, is ListAccounts.Type, is RemoveAccount.Type: account(operation)
        case is AddAPNsCredential.Type, is ListAPNsCredentials.Type, is ShowAPNsCredential.Type,
            is TestAPNsCredential.Type, is RemoveAPNsCredential.Type, is ListAPNsFeedback.Type:
            apns(operation)
        case is ListDevices.Type, is ShowDevice.Type, is TraceDevice.Type, is ForgetDevice.Type:
            device(operation)
        case is ListInstallations.Type, is ShowInstallation.Type, is RevokeInstallation.Type,
            is ListTopics.Type, is ListRunningTopics.Type:
            installationOrTopic(operation)
        case is AddVirtualDevice.Type, is ListVirtualDevices.Type, is ChangeVirtualDevice.Type,
            is ReadVirtualDevice.Type, is SendFromVirtualDevice.Type, is ListSent.Type,
            is UnregisterVirtualDevice.Type, is RemoveVirtualDevice.Type, is SettleVirtualDevice.Type,
            is ReinstallVirtualDevice.Type:
            testBench(operation)
        case is AddFault.Type, is ListFaults.Type, is RemoveFault.Type, is ClearFaults.Type,
            is ResetTestBench.Type:
            fault(operation)
        case is AddRecorder.Type, is ListRecorders.Type, is ReadRecorder.Type, is ClearRecorder.Type,
            is RemoveRecorder.Type:
            recorder(operation)
        default: preconditionFailure("\(operation) has no sample")
        }
    }

    private static func installationOrTopic(_ operation: any OperatorCommand.Type) -> Sample {
        switch operation {
        case is ListInstallations.Type:
            Sample(
                arguments: [["limit": 7, "after": installation]],
                answers: [["installations": [installationRow], "next_after": installation]])
        case is ShowInstallation.Type, is RevokeInstallation.Type:
            Sample(arguments: [["installation": installation]], answers: [installationRow])
        case is ListTopics.Type:
            Sample(
                arguments: [["sender_id": "5", "limit": 7, "after": "5/news"]],
                answers: [
                    [
                        "topics": [["sender_id": "5", "topic": "news", "subscribers": 9]],
                        "next_after": "5/news",
                    ]
                ])
        default:
            Sample(arguments: [["limit": 7]], answers: [["messages": [running], "left_out": 1]])
        }
    }

    private static let reload =
        Sample(
            arguments: [
                [
                    "certificate": "PEM", "private_key": "SECRET", "certificate_file": "/a",
                    "private_key_file": "/b",
                ]
            ],
            answers: [["reloaded": true, "changed": ["log_level"], "needs_restart": ["device_port"]]])

    private static let health = Sample(
        arguments: [[:]],
        answers: [
            [
                "healthy": false, "state": "serving",
                "findings": [
                    [
                        "cause": "disk_low", "problem": "5 of 100 bytes are free",
                        "action": "free space",
                    ]
                ],
            ]
        ])

    private static let message = Sample(
        arguments: [
            [
                "sender_id": "5", "to": token, "message_id": "m1", "raw_data": "AAAA", "data": ["a": "b"],
                "notification": ["title": "t"], "collapse_key": "k", "time_to_live": 60, "priority": "high",
                "delivery_receipt_requested": true,
            ],
            ["sender_id": "5", "message": ["token": "t", "data": ["a": "b"]]],
        ],
        answers: [
            [
                "message_id": "ctl-1", "outcome": "nack", "registration_id": token,
                "error": "BAD_REGISTRATION",
                "error_description": "no token", "success": 1, "failure": 2,
            ]
        ])

    private static func sender(_ operation: any OperatorCommand.Type) -> Sample {
        switch operation {
        case is AddSender.Type:
            Sample(
                arguments: [["label": "shop", "project": "lab-one", "sender_id": "5", "key": key]],
                answers: [["sender_id": "5", "project": "lab-one", "key": key]])
        case is ListSenders.Type:
            Sample(
                arguments: [[:]],
                answers: [
                    [
                        "senders": [
                            [
                                "sender_id": "5", "label": "shop", "project": "lab-one", "keys": 2,
                                "created_at": time, "suspended": false,
                            ]
                        ]
                    ]
                ])
        case is RotateKey.Type:
            Sample(
                arguments: [["sender_id": "5", "overlap_seconds": 0, "key": key]],
                answers: [["sender_id": "5", "key": key, "old_keys_expire_at": time]])
        default: Sample(arguments: [["sender_id": "5"]], answers: [["sender_id": "5"]])
        }
    }

    private static func webhook(_ operation: any OperatorCommand.Type) -> Sample {
        let secret: JSONValue = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        let url: JSONValue = "https://app.example.com/ccs"
        let report: JSONValue = [
            "sender_id": "5", "url": url, "state": "active", "created_at": time,
            "secrets_made_at": [earlier, time], "old_secret_expires_at": time,
            "delivery": [
                "acknowledged": 5, "failed": 2, "failures_in_row": 1, "in_flight": 3, "waiting": 4,
                "retries_in_seconds": 30, "last_failure": "HTTP status 503", "last_failure_at": time,
                "last_acknowledged_at": earlier,
            ],
        ]
        return switch operation {
        case is SetWebhook.Type:
            Sample(
                arguments: [["sender_id": "5", "url": url, "secret": secret]],
                answers: [["sender_id": "5", "url": url, "secret": secret]])
        case is ShowWebhook.Type: Sample(arguments: [["sender_id": "5"]], answers: [report])
        case is ListWebhooks.Type: Sample(arguments: [[:]], answers: [["webhooks": [report]]])
        case is RotateWebhookSecret.Type:
            Sample(
                arguments: [["sender_id": "5", "overlap_seconds": 0, "secret": secret]],
                answers: [["sender_id": "5", "secret": secret, "old_secret_expires_at": time]])
        case is ClearWebhook.Type: Sample(arguments: [["sender_id": "5"]], answers: [["sender_id": "5"]])
        default:
            Sample(
                arguments: [["sender_id": "5"]],
                answers: [
                    ["sender_id": "5", "state": "paused", "changed": true, "failure_pause_ended": false]
                ])
        }
    }

    private static func account(_ operation: any OperatorCommand.Type) -> Sample {
        switch operation {
        case is AddAccount.Type:
            Sample(
                arguments: [["sender_id": "5", "public_key": "AAEC"]],
                answers: [["sender_id": "5", "project": "lab-one", "email": "a@b", "key_id": "0a"]])
        case is ListAccounts.Type:
            Sample(
                arguments: [["sender_id": "5"]],
                answers: [
                    [
                        "accounts": [
                            [
                                "sender_id": "5", "project": "lab-one", "key_id": "0a", "created_at": time,
                                "email": "a@b",
                            ]
                        ]
                    ]
                ])
        default:
            Sample(
                arguments: [["sender_id": "5", "key_id": "0a"]],
                answers: [["sender_id": "5", "email": "a@b"]])
        }
    }

    private static func device(_ operation: any OperatorCommand.Type) -> Sample {
        switch operation {
        case is ListDevices.Type:
            Sample(
                arguments: [
                    [
                        "limit": 7, "after": "42", "sender_id": "5", "app": "com.a", "channel": "apns",
                        "presence": "offline", "seen_before": time, "seen_after": earlier, "waiting": true,
                    ]
                ],
                answers: [
                    [
                        "devices": [
                            [
                                "device": "43", "created_at": time, "seen_at": time, "online": false,
                                "registrations": 2, "channels": ["mcs", "apns"], "waiting": 3,
                            ]
                        ],
                        "examined": 9, "next_after": "43",
                    ]
                ])
        case is ShowDevice.Type:
            Sample(
                arguments: [["device": "42"], ["device": token]],
                answers: [shownDevice(connection: "device"), shownDevice(connection: "sender_id")])
        case is TraceDevice.Type:
            Sample(
                arguments: [["device": token, "seconds": 9]], answers: [["lines": 3, "left_out": 1]],
                lines: [
                    ("tracing", ["device": "42"]),
                    (
                        "trace",
                        [
                            "time": time, "direction": "downstream", "step": "sent", "message_id": "m",
                            "persistent_id": "0:1%2", "registration": 1, "sender_id": "5", "detail": "d",
                        ]
                    ),
                ])
        default:
            Sample(arguments: [["device": "42"]], answers: [["registrations": 1, "messages": 2]])
        }
    }

    private static func shownDevice(connection name: String) -> JSONValue {
        [
            "device": "42", "created_at": time, "seen_at": time, "expires_at": time, "online": true,
            "connection": session(name),
            "registrations": [
                [
                    "number": 1, "token": token, "category": "com.a", "subtype": "s", "sender_id": "5",
                    "kind": "app", "waiting": 3, "created_at": time,
                ]
            ],
            "mailbox": [
                "messages": 3, "with_collapse_key": 1, "deleted_markers": 0, "send_errors": 0,
                "pending_receipts": 2,
            ],
            "pending": [["persistent_id": "0:1%2", "registration": 1, "expires_at": time]],
        ]
    }

    private static func session(_ name: String) -> JSONValue {
        .object([
            .init("id", "0-345"), .init("kind", "device"), .init("peer", "[::1]:9"), .init(name, "5"),
            .init("since", time),
        ])
    }

    private static let installationRow: JSONValue = [
        "installation": installation, "sender_id": "5", "ended": false, "created_at": time, "used_at": time,
        "registrations": 2,
    ]

    private static let running: JSONValue = [
        "sender_id": "5", "message_id": "m", "to": "/topics/news", "topics": ["news"], "since": time,
        "expires_at": time, "reached": 9, "subscribers": 11,
    ]

    private static let law: JSONValue = [
        "accepted": 3, "delivered": 1, "replaced": 0, "expired": 1, "discarded": 0, "removed": 0,
        "forwarded": 0,
        "pending": 1,
    ]

    private static let audit: JSONValue = [
        "holds": true, "downstream": law, "upstream": law, "devices": 1, "registrations": 2, "senders": 3,
        "groups": 4, "installations": 5, "subscriptions": 6, "topic_messages": 7, "partitions": 16,
        "unreadable": ["d/1"], "damaged": ["table 000012.sst"],
    ]

    private static let check: JSONValue = [
        "ok": false,
        "findings": [
            [
                "severity": "error", "file": "/c", "line": 1, "column": 2, "flag": "--f", "variable": "V",
                "key": "log_level", "problem": "p", "hint": "h", "text": "t",
            ]
        ], "left_out": 1,
    ]

    private static let status: JSONValue = [
        "version": "0.1.0", "pid": 7, "uptime_seconds": 60, "state": "serving", "clock_problem": "behind",
        "listeners": [["name": "device", "address": "::1", "port": 5_228]], "app_servers": 1, "devices": 2,
        "connections": ["accepted": 9, "open": 1, "closed": ["idle": 2], "refused": ["address_full": 3]],
        "downstream": ["accepted": 5], "upstream": ["accepted": 6],
        "topics": ["in_progress": 0, "accepted": 1, "recipients": 2],
        "store": ["kind": "rocksdb", "path": "/d", "healthy": true, "partitions": 16],
        "registry": ["bytes": 1, "limit": 2, "full": false], "certificate_not_after": time,
        "cluster": [
            "id": "00112233aabbccdd", "node": 1, "name": "node-1", "owned": 5, "partitions": 16,
            "log_connected": true, "alarms": 2,
        ], "test_clock": testClock,
    ]

    private static let testClock: JSONValue = [
        "time": time, "machine_time": time, "advanced_seconds": 2_419_200,
    ]
}
