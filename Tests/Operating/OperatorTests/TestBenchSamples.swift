import Operator
import Wire

extension Samples {
    /// The samples of the commands for virtual devices.
    static func testBench(_ operation: any OperatorCommand.Type) -> Sample {
        switch operation {
        case is AddVirtualDevice.Type:
            Sample(
                arguments: [["sender_id": "5", "app": "org.example.app", "label": "first"]],
                answers: [virtualDevice])
        case is ListVirtualDevices.Type:
            Sample(arguments: [[:]], answers: [["devices": [virtualDevice]]])
        case is ChangeVirtualDevice.Type:
            Sample(
                arguments: [["device": "77", "connection": "online", "acknowledgement": "never"]],
                answers: [virtualDevice])
        case is ReadVirtualDevice.Type:
            Sample(
                arguments: [["device": "77", "after": 3, "limit": 5, "wait": 10, "count": 2]],
                answers: [["messages": [inboxMessage], "received": 4, "dropped": 0]])
        case is SendFromVirtualDevice.Type:
            Sample(
                arguments: [
                    ["device": "77", "data": ["a": "b"], "message_id": "up-1", "time_to_live": 60]
                ],
                answers: [
                    ["message_id": "up-1", "outcome": "stored"],
                    ["message_id": "up-1", "outcome": "refused", "error": "toomanymessages"],
                ])
        case is ListSent.Type:
            Sample(
                arguments: [["device": "77", "message_id": "up-1", "after": 1, "limit": 5]],
                answers: [
                    [
                        "messages": [
                            ["number": 2, "sent_at": time, "message_id": "up-1", "state": "waiting"],
                            [
                                "number": 3, "sent_at": time, "message_id": "up-1", "state": "returned",
                                "error": "TtlExceeded",
                            ],
                        ]
                    ]
                ])
        case is SettleVirtualDevice.Type:
            Sample(
                arguments: [["device": "77", "wait": 5]],
                answers: [["settled": false, "waiting": 2, "received": 4]])
        default: Sample(arguments: [["device": "77"]], answers: [virtualDevice])
        }
    }

    /// The samples of the commands for recorders.
    static func recorder(_ operation: any OperatorCommand.Type) -> Sample {
        let row: JSONValue = [
            "sender_id": "5", "connected": true, "webhook": false, "received": 4, "dropped": 0,
        ]
        return switch operation {
        case is ListRecorders.Type: Sample(arguments: [[:]], answers: [["recorders": [row]]])
        case is ReadRecorder.Type:
            Sample(
                arguments: [["sender_id": "5", "after": 3, "limit": 5, "wait": 10, "count": 2]],
                answers: [["messages": [recorded, receipt], "received": 4, "dropped": 0]])
        case is ClearRecorder.Type: Sample(arguments: [["sender_id": "5"]], answers: [["removed": 4]])
        default: Sample(arguments: [["sender_id": "5"]], answers: [row])
        }
    }

    /// The samples of the commands for faults.
    static func fault(_ operation: any OperatorCommand.Type) -> Sample {
        let refusal: JSONValue = [
            "fault": 3, "action": "refuse", "error": "DEVICE_UNREGISTERED", "reason": "not_registered",
            "retry_after": 7, "token": "SECRET", "remaining": 2, "hits": 1,
        ]
        let delay: JSONValue = [
            "fault": 4, "action": "delay", "milliseconds": 500, "sender_id": "5", "remaining": 1, "hits": 0,
        ]
        return switch operation {
        case is AddFault.Type:
            Sample(
                arguments: [
                    [
                        "action": "refuse", "token": "SECRET", "count": 3, "error": "DEVICE_UNREGISTERED",
                        "retry_after": 7,
                    ],
                    ["action": "delay", "sender_id": "5", "milliseconds": 500],
                ], answers: [refusal, delay])
        case is ListFaults.Type: Sample(arguments: [[:]], answers: [["faults": [refusal, delay]]])
        case is ClearFaults.Type: Sample(arguments: [[:]], answers: [["removed": 4]])
        case is ResetTestBench.Type:
            Sample(arguments: [[:]], answers: [["devices": 3, "recorders": 2, "faults": 4]])
        default: Sample(arguments: [["fault": 3]], answers: [refusal, delay])
        }
    }

    private static let recorded: JSONValue = [
        "number": 4, "received_at": time, "type": "message", "message_id": "up-1", "token": "SECRET",
        "app": "org.example.app", "time_to_live": 60, "repeated": false, "data": ["a": "b"],
    ]

    private static let receipt: JSONValue = [
        "number": 5, "received_at": time, "type": "receipt", "message_id": "dr2:m-1", "token": nil,
        "repeated": false, "data": ["message_status": "MESSAGE_SENT_TO_DEVICE"],
    ]

    private static let virtualDevice: JSONValue = [
        "device": "77", "sender_id": "5", "app": "org.example.app", "label": "first", "online": true,
        "connected": false, "forgotten": false, "acknowledges": true, "received": 4, "dropped": 0,
        "token": "SECRET",
    ]

    private static let inboxMessage: JSONValue = [
        "number": 4, "received_at": time, "type": "message", "from": "5", "persistent_id": "0:1%2",
        "collapse_key": "news", "repeated": false, "data": ["a": "b"], "raw_data": "AAEC",
    ]
}
