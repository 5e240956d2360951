import Operator
import Wire

extension Samples {
    static func transfer(_ operation: any OperatorCommand.Type) -> Sample {
        switch operation {
        case is ExportRecords.Type:
            Sample(
                arguments: [["part": "devices", "after": "7", "limit": 9]],
                answers: [["rows": [["kind": "device"]], "next": "8"], ["rows": [], "next": .null]])
        case is ImportRecords.Type:
            Sample(
                arguments: [["rows": [["kind": "device"]], "line": 7, "replace": true]],
                answers: [
                    [
                        "added": 1, "unchanged": 2, "replaced": 3,
                        "problems": [
                            ["line": 7, "field": "kind", "conflict": false, "text": "invalid kind"],
                            ["line": 8, "field": .null, "conflict": true, "text": "it differs"],
                        ],
                        "needs_restart": true,
                    ]
                ])
        default:
            Sample(
                arguments: [["path": "/backup/monday"], ["path": "monday", "folder": "service"]],
                answers: [
                    [
                        "path": "/backup/monday", "created_at": time, "commit": 7, "files": 3, "bytes": 2,
                        "linked_bytes": 1, "milliseconds": 5, "not_included": ["/etc/ccsd/ccsd.yaml"],
                    ]
                ])
        }
    }

    /// The samples of the commands for a cluster.
    static func cluster(_ operation: any OperatorCommand.Type) -> Sample {
        switch operation {
        case is HandOverPartition.Type:
            Sample(
                arguments: [["partition": 3, "to": 2], ["partition": 3]],
                answers: [["partition": 3, "from": 1, "owner": 2, "milliseconds": 120]])
        case is RemoveNode.Type, is AdmitNode.Type:
            Sample(arguments: [["node": 3]], answers: [["node": 3, "name": "node-3"]])
        default: Sample(arguments: [[:]], answers: [cluster])
        }
    }

    private static let cluster: JSONValue = [
        "cluster": "00112233aabbccdd", "node": 1, "name": "node-1", "frame_version": 1, "draining": false,
        "log": [
            "server": "n1", "version": "2.15.1", "disconnected_seconds": 3, "replicas": 3,
            "syncs": true,
            "problems": [
                ["stream": "CCS_0", "partition": 0, "problem": "num_replicas is 1: expected 3"]
            ],
        ],
        "members": [
            [
                "node": 2, "name": "node-2", "status": "alive", "address": "10.0.0.2:5240",
                "software": "0.9.0", "frame_version": 1, "draining": false, "owned": 8, "linked": true,
                "round_trip_microseconds": 350, "clock_milliseconds": -12, "silent_milliseconds": 90,
            ]
        ],
        "partitions": [
            [
                "partition": 0, "owner": 2, "epoch": 3, "role": "following", "applied": 700,
                "durable": 650, "behind": 2, "unconfirmed": 0, "voids": 1,
            ]
        ],
        "alarms": [
            [
                "cause": "stream_unfit", "problem": "the stream CCS_0 is not as it must be",
                "action": "correct it",
            ]
        ],
    ]
}
