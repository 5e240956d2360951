import Basics
import Wire

/// Attacks on the connections of devices.
extension Attack {
    /// All attacks on device connections.
    static var links: [Attack] {
        [
            Attack(
                name: "mcs-lengths", connections: 50,
                aims: [.reach(.closed(.tooLarge)), .reach(.closed(.protocolViolation))],
                script: { _, number in
                    // A login of 2 GiB, or a length that does not end.
                    let length: [UInt8] = number.isMultiple(of: 2) ? [255, 255, 255, 255, 7] : [255]
                    return HostileScript(
                        listener: .devices, opening: [41, 2] + length,
                        block: { _ in [UInt8](repeating: 255, count: 16_384) })
                }),
            Attack(
                name: "mcs-logins", connections: 100,
                aims: [
                    .reach(.deviceBytes, 1_000_000), .reach(.stillConnected),
                    .reach(.closed(.loginDeadline), after: Limits.Login.deadlineSeconds),
                ],
                script: { _, _ in
                    // A login of the maximum length, all of it received IDs, which never ends.
                    var script = HostileScript(
                        listener: .devices, opening: [41, 2] + varint(Limits.MCS.loginFrameBytes),
                        block: { _ in receivedIDs })
                    script.blocks = Limits.MCS.loginFrameBytes / receivedIDs.count
                    return script
                }),
            Attack(
                name: "mcs-heartbeats", connections: 10,
                aims: [.reach(.deviceLogins), .reach(.receivedBytes, 1_000)],
                script: { scene, number in
                    // The tag of a ping with length 0.
                    let pings = [UInt8]((0..<1_000).flatMap { _ in [0, 0] })
                    return loggedIn(scene, number) { _ in pings }
                }),
            Attack(
                name: "mcs-acks", connections: 10,
                aims: [.reach(.deviceLogins), .reach(.deviceBytes, 100_000)],
                script: { scene, number in
                    // Acks of frames and messages that were never sent.
                    loggedIn(scene, number) { block in
                        bytes(of: 500) { at, frames in
                            let ids = (0..<10).map { Array("0:\(number)-\(block)-\(at)-\($0)".utf8) }
                            MCS.IqStanza(
                                at.isMultiple(of: 2) ? .streamAck : .selectiveAck(ids),
                                lastStreamIDReceived: .max
                            )
                            .append(to: &frames)
                        }
                    }
                }),
            Attack(
                name: "mcs-messages", connections: 10,
                aims: [
                    .reach(.deviceLogins), .reach(.deviceBytes, 100_000),
                    .reach(.refusedUpstreamMessages, 200),
                ],
                script: { scene, number in
                    // To an unknown sender, so that the good peers' app servers are not involved.
                    loggedIn(scene, number) { block in
                        bytes(of: 200) { at, frames in
                            var message = MCS.DataMessage()
                            message.to = Array("1@gcm.googleapis.com".utf8)
                            message.category = Array(DaemonTarget.category.utf8)
                            message.id = Array("f\(block)-\(at)".utf8)
                            message.persistentID = message.id
                            message.append(to: &frames)
                        }
                    }
                }),
        ]
    }

    /// Returns the first bytes of a device connection.
    static func deviceLogin(_ device: BenchDevice) -> [UInt8] {
        bytes { _, buffer in device.appendLogin(to: &buffer) }
    }

    /// Returns `count` frames, each written by `append`.
    private static func bytes(of count: Int = 1, _ append: (Int, inout ByteBuffer) -> Void) -> [UInt8] {
        var buffer = ByteBuffer()
        for at in 0..<count { append(at, &buffer) }
        return buffer.copied()
    }

    /// Returns a script of a device that logs in and then floods.
    private static func loggedIn(
        _ scene: AttackScene, _ number: Int, _ block: @escaping (Int) -> [UInt8]
    ) -> HostileScript {
        HostileScript(
            listener: .devices, opening: deviceLogin(scene.devices[number % scene.devices.count]),
            turns: [.init(awaited: "", answer: [])], block: block, pauseMilliseconds: 50)
    }

    /// Received IDs as in a login (field 10), 64 KiB of them.
    private static let receivedIDs: [UInt8] = {
        let id = Array("0:1700000000000000%0123456789abcdef".utf8)
        let field = [0x52, UInt8(id.count)] + id
        return [UInt8]((0..<65_536 / field.count).flatMap { _ in field })
    }()

    private static func varint(_ number: Int) -> [UInt8] {
        bytes { _, buffer in Varint.append(UInt64(number), to: &buffer) }
    }
}
