import Operator
import Wire

extension Samples {
    /// The samples of everyday commands.
    static func everyday(_ operation: any OperatorCommand.Type) -> Sample {
        switch operation {
        case is ShowAuthority.Type:
            Sample(
                arguments: [[:]],
                answers: [["certificate": "PEM", "fingerprint": "AB:CD", "not_after": time]])
        case is ShowConfiguration.Type: configuration
        case is ChangeLogLevel.Type:
            Sample(
                arguments: [["level": "debug", "duration": "600s"], [:]],
                answers: [["level": "debug", "configured": "info", "until": time]])
        case is ListAuditLog.Type: auditLog
        case is SenderStatistics.Type: statistics
        case is ListMessages.Type: messages
        case is ListScheduled.Type: scheduled
        case is FindMessages.Type: found
        case is ListHistory.Type: history
        case is CountMessages.Type: totals
        case is CountHours.Type: hours
        case is CancelMessages.Type:
            Sample(
                arguments: [["device": "dzxZqRrnxm4:APA91bSECRET", "message_id": "m-1"]],
                answers: [["cancelled": 2, "too_late": 1]])
        default:
            Sample(
                arguments: [["sender_id": "5"]],
                answers: [["sender_id": "5", "suspended": true, "changed": false]])
        }
    }

    private static let configuration = Sample(
        arguments: [["changed": true]],
        answers: [
            [
                "file": "/etc/ccsd.yaml",
                "keys": [
                    [
                        "key": "reactors", "value": "0", "default": "0", "source": "file", "file": "/c",
                        "line": 3, "name": "--reactors", "reloadable": false, "in_use": "2", "pending": "4",
                    ]
                ],
            ]
        ])

    private static let auditLog = Sample(
        arguments: [
            [
                "limit": 7, "before": 9, "command": "senders", "user": "0", "since": time, "failed": true,
            ]
        ],
        answers: [
            [
                "entries": [
                    [
                        "number": 8, "time": time, "user": "0", "pid": "7", "command": "senders remove",
                        "arguments": "sender=5", "result": "refused", "problem": "unknown sender 5",
                    ]
                ], "unreadable": 1, "next_before": 8,
            ]
        ])

    private static let statistics = Sample(
        arguments: [["sender_id": "5"]],
        answers: [
            [
                "since": time,
                "senders": [
                    [
                        "sender_id": "5", "label": "shop", "suspended": false, "sessions": 2, "draining": 1,
                        "window": 100, "unacknowledged": 3, "waiting": 4, "waiting_is_exact": true,
                        "downstream": ["accepted": 5], "upstream": ["accepted": 6],
                        "refused": ["invalid_token": 7],
                    ]
                ],
            ]
        ])

    private static let waitingRow: JSONValue = [
        "kind": "message", "message_id": "m-1", "persistent_id": "0:1%2", "sender_id": "5", "device": "42",
        "registration": 1, "app": "com.a", "bytes": 20, "collapse_key": "k", "priority": "high",
        "stored_at": time, "expires_at": time, "send_at": time, "state": "scheduled",
    ]

    private static let messages = Sample(
        arguments: [
            ["device": "dzxZqRrnxm4:APA91bSECRET", "limit": 7, "after": "9"], ["sender_id": "5"],
        ],
        answers: [
            [
                "messages": [waitingRow], "next_after": "10",
            ]
        ])

    private static let scheduled = Sample(
        arguments: [["sender_id": "5", "limit": 7, "after": "9-5-1"]],
        answers: [
            [
                "messages": [waitingRow], "next_after": "9-5-2",
            ]
        ])

    private static let historyRow: JSONValue = [
        "kind": "downstream", "message_id": "m-1", "persistent_id": "0:1%2", "apns_id": "0-8-8-0-1",
        "sender_id": "5",
        "device": "42", "registration": 1,
        "steps": [["time": time, "step": "refused", "detail": "not_registered", "session": "0-345"]],
    ]

    private static let coverage: JSONValue = [
        "since": time, "gaps": [["from": time, "to": time]], "damaged": 1, "missing": [2],
    ]

    private static let found = Sample(
        arguments: [
            ["message_id": "m-1", "limit": 7],
            [
                "sender_id": "5", "since": time, "until": time, "outcome": "refused", "before": "9",
                "after": "3",
            ],
        ],
        answers: [
            [
                "messages": [historyRow], "cut": true, "next_before": "8", "latest": "17",
                "history": coverage,
            ]
        ])

    private static let history = Sample(
        arguments: [["device": "dzxZqRrnxm4:APA91bSECRET", "limit": 7, "before": "9", "after": "3"]],
        answers: [
            ["messages": [historyRow], "next_before": "8", "latest": "17", "history": coverage]
        ])

    private static let totals = Sample(
        arguments: [["sender_id": "5", "days": 30]],
        answers: [
            [
                "days": [["day": time, "messages": ["accepted": 3, "delivered": 2]]],
                "topics": [["to": "/topics/news", "sender_id": "5", "messages": 2, "reached": 7]],
                "complete_since": time,
                "unattributed": 1, "history": coverage,
            ]
        ])

    private static let hours = Sample(
        arguments: [["hours": 24, "days": 7]],
        answers: [
            [
                "hours": [["hour": time, "messages": ["accepted": 3, "delivered": 2]]],
                "days": [["day": time, "messages": ["accepted": 3, "delivered": 2]]], "history": coverage,
            ]
        ])

    /// The samples of the commands for operators of the API.
    static func operators(_ operation: any OperatorCommand.Type) -> Sample {
        switch operation {
        case is AddOperator.Type:
            Sample(
                arguments: [["name": "alice", "role": "operator", "expires": "7776000s"]],
                answers: [
                    ["name": "alice", "role": "operator", "token": "ccso_SECRET", "expires_at": time]
                ])
        case is ListOperators.Type:
            Sample(
                arguments: [[:]],
                answers: [
                    [
                        "operators": [
                            [
                                "name": "alice", "role": "viewer", "created_at": time, "expires_at": time,
                                "expired": true, "sessions": 2,
                            ]
                        ]
                    ]
                ])
        default: Sample(arguments: [["name": "alice"]], answers: [["name": "alice"]])
        }
    }
}
