import Basics
import Testing

@testable import Delivery

/// Messages to a Firebase installation instead of a token (http 8.2).
@Suite struct InstallationSendTests {
    private let fid = bytes("cGFzc3dvcmQ_aGVsbG8tdw")

    private func register(
        _ bench: Harness, _ requestID: UInt32, subtype: String, sender: String = "100",
        on device: DeviceID = device
    ) {
        bench.post(
            .register(
                RegistrationRequest(
                    requester: Requester(connection: web, requestID: requestID), device: device, token: token,
                    category: bytes("app"), subtype: bytes(subtype), senderText: bytes(sender),
                    instance: fid)))
        bench.settle()
        _ = bench.take(web)
    }

    private func send(
        _ bench: Harness, _ requestID: UInt32, to installation: [UInt8]? = nil,
        from sender: SenderID = Harness.sender, isDryRun: Bool = false
    ) {
        var submission = Harness.submission(requestID)
        submission.content.isDryRun = isDryRun
        bench.post(
            .installation(
                InstallationRequest(
                    requester: submission.requester, installation: installation ?? fid, sender: sender,
                    action: .send(submission.content))))
    }

    @Test(
        "A message goes to the installation's newest registration with the sender, and is answered when on disk"
    )
    func reaches() {
        let bench = Harness.withDevice(partitions: 3)
        register(bench, 1, subtype: "a")
        register(bench, 2, subtype: "b")
        register(bench, 3, subtype: "c", sender: "200")
        bench.login()
        bench.settle()
        _ = bench.take(phone)
        send(bench, 4)
        bench.runTurns()
        #expect(bench.take(appServer).isEmpty, "a message is not acknowledged before it is on disk")
        bench.settle()
        #expect(bench.take(appServer).words == ["ack 4"])
        let delivered = bench.take(phone).compactMap(\.delivery)
        #expect(delivered.map { String(decoding: $0.message.messageID, as: UTF8.self) } == ["m4"])
        #expect(delivered.map(\.subtype) == [bytes("b")])

        send(bench, 5, isDryRun: true)
        send(bench, 6, from: Harness.otherSender)
        bench.settle()
        #expect(bench.take(appServer).words.sorted() == ["ack 5", "ack 6"])
        #expect(bench.take(phone).compactMap(\.delivery).map(\.subtype) == [bytes("c")])
    }

    @Test("A message is refused when the installation is unknown, removed or another sender's")
    func refused() {
        let bench = Harness.withDevice(partitions: 3)
        send(bench, 1)
        bench.settle()
        #expect(bench.take(appServer).words == ["nack 1 not_registered"])
        register(bench, 2, subtype: "a")
        send(bench, 3, from: Harness.otherSender)
        bench.settle()
        #expect(bench.take(appServer).words == ["nack 3 sender_mismatch"])
        bench.post(
            .installation(
                InstallationRequest(
                    requester: Requester(connection: web, requestID: 4), installation: fid,
                    sender: Harness.sender,
                    action: .remove)))
        bench.settle()
        send(bench, 5)
        bench.settle()
        #expect(bench.take(appServer).words == ["nack 5 not_registered"])
        #expect(bench.down.refused == 3)
    }

    @Test("A message is refused as unavailable when the installation or its device cannot be read")
    func unreadable() {
        let bench = Harness.withDevice()
        register(bench, 1, subtype: "a")
        bench.crash(seed: 3)
        send(bench, 2)
        bench.runTurns()
        bench.read(bench.partitions[0], failing: true)
        bench.reportAnswer(bench.partitions[0])
        bench.runTurns()
        #expect(bench.take(appServer).words == ["nack 2 unavailable"])

        send(bench, 3)
        bench.runTurns()
        bench.read(bench.partitions[0])
        bench.reportAnswer(bench.partitions[0])
        bench.runTurns()
        bench.read(bench.partitions[0], failing: true)
        bench.reportAnswer(bench.partitions[0])
        bench.runTurns()
        #expect(bench.take(appServer).words == ["nack 3 unavailable"])
    }
}
