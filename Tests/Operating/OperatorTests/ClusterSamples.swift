import Operator
import Wire

extension Samples {
    /// The samples of the commands for a cluster.
    static func cluster(_ name: OperationName) -> Sample {
        switch name {
        case .handOverPartition:
            Sample(
                arguments: [["partition": 3, "to": 2], ["partition": 3]],
                answers: [["partition": 3, "from": 1, "owner": 2, "milliseconds": 120]])
        case .removeNode, .admitNode:
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
