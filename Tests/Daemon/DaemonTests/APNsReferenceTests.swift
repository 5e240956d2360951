import Foundation
import Testing

/// The daemon and another client of APNs against the same mock of Apple.
@Suite(
    "APNs reference", .serialized, .enabled(if: TestPaths.hasPython, "run Scripts/bootstrap --tests first"))
struct APNsReferenceTests {
    @Test("the same alert of aioapns reaches Apple with the same headers and the same aps")
    func aioapns() throws {
        let bench = try AppleBench()
        let devices = [1, 2].map { AppleBench.deviceToken("00", $0) }
        let client = try Driver(
            "aioapns_sender.py",
            [
                String(bench.apple.productionPort), bench.apple.file("ca.pem"),
                bench.apple.file("AuthKey_\(AppleMock.key).p8"), AppleMock.key, AppleMock.team,
                AppleMock.bundle,
            ])
        let aps: [String: Any] = [
            "alert": ["title": "Portugal vs. Denmark", "body": "great match!"], "badge": 1,
            "sound": "default", "category": "MATCH", "mutable-content": 1,
        ]
        try client.command([
            "do": "send", "token": devices[0], "payload": ["aps": aps, "volume": "3.21.15"],
            "lifetime": 3_600, "collapse": "score", "priority": 10,
        ])
        let result = try client.expect(event: "result")
        #expect(result["status"] as? String == "200", "\(result)")
        let token = try bench.register([devices[1]])[0]
        let message: [String: Any] = [
            "token": token, "data": ["volume": "3.21.15"],
            "notification": ["title": "Portugal vs. Denmark", "body": "great match!"],
            "apns": [
                "headers": [
                    "apns-collapse-id": "score", "apns-priority": "10",
                    "apns-expiration": String(Int(Date().timeIntervalSince1970) + 3_600),
                ],
                "payload": [
                    "aps": [
                        "badge": 1, "sound": "default", "category": "MATCH", "mutable-content": 1,
                    ] as [String: Any]
                ],
            ] as [String: Any],
        ]
        let sent = try bench.request([
            ["POST", "/v1/projects/\(bench.sender.id)/messages:send", ["message": message]]
        ])
        #expect(sent.first?.messageID != nil, "\(sent)")
        try eventually("both are logged") { devices.allSatisfy { bench.apple.requests(to: $0).count == 1 } }
        let theirs = bench.apple.requests(to: devices[0])[0]
        let ours = bench.apple.requests(to: devices[1])[0]
        let names = [
            "env", "topic", "push_type", "priority", "collapse_id", "auth", "kid", "team", "status",
        ]
        for name in names {
            #expect(
                "\(ours[name] ?? "none")" == "\(theirs[name] ?? "none")" && ours[name] != nil, "\(name)")
        }
        let ends = [theirs, ours].compactMap { ($0["expiration"] as? String).flatMap { Int($0) } }
        #expect(ends.count == 2 && abs(ends[0] - ends[1]) <= Int(Patience.seconds), "\(ends)")
        let payloads = [theirs, ours].map { $0["payload"] as? [String: Any] ?? [:] }
        #expect(payloads.allSatisfy { NSDictionary(dictionary: aps).isEqual($0["aps"]) }, "\(payloads)")
        #expect(payloads.allSatisfy { $0["volume"] as? String == "3.21.15" })
        #expect([theirs, ours].allSatisfy { $0["lint"] == nil })
    }
}
