import Basics

/// Attacks on the listeners themselves and on the streams of app servers.
extension Attack {
    /// Connections that are open and nearly idle.
    static var openings: [Attack] {
        [
            Attack(
                name: "silence", connections: 300,
                aims: [
                    .reach(.accepted), .reach(.stillConnected),
                    .reach(.closed(.handshakeDeadline), after: Limits.Login.handshakeDeadlineSeconds),
                ],
                script: { _, number in HostileScript(listener: listeners[number % 3], tlsMode: .none) }),
            Attack(
                name: "slow-tls", connections: 300,
                aims: [
                    .reach(.accepted), .reach(.blocks), .reach(.stillConnected),
                    .reach(.closed(.handshakeDeadline), after: Limits.Login.handshakeDeadlineSeconds),
                ],
                script: { _, number in
                    // The head of a ClientHello of 512 bytes; the remainder follows one byte at a time.
                    HostileScript(
                        listener: listeners[number % 3], tlsMode: .none,
                        opening: [22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3],
                        block: { _ in [0] }, pauseMilliseconds: slow)
                }),
            Attack(
                name: "slow-openings", connections: 150,
                aims: [
                    .reach(.handshakes), .reach(.blocks), .reach(.stillConnected),
                    .reach(.closed(.loginDeadline), after: Limits.Login.deadlineSeconds),
                ],
                script: { scene, number in
                    let header = Array(scene.login.header.utf8)
                    let first = deviceLogin(scene.devices[number % scene.devices.count])
                    return number.isMultiple(of: 2)
                        ? HostileScript(
                            listener: .appServers, block: { [header[$0 % header.count]] },
                            pauseMilliseconds: slow
                        )
                        : HostileScript(
                            listener: .devices, block: { [first[$0 % first.count]] }, pauseMilliseconds: slow)
                }),
            Attack(
                name: "half-open", connections: 2_000, perSecond: 2_000,
                aims: [
                    .reach(.accepted), .reach(.stillConnected), .atFullScale(.refusedAtAccept(.reactorFull)),
                ],
                script: { _, number in HostileScript(listener: listeners[number % 3], tlsMode: .none) }),
        ]
    }

    /// Guesses of keys, each from its own address.
    static var logins: [Attack] {
        [
            Attack(
                name: "login-flood", connections: 50,
                aims: [.reach(.failedAppServerLogins), .reach(.closed(.tooManyLogins))],
                script: { scene, _ in
                    var script = HostileScript.appServer(scene.wrongLogin)
                    let again = HostileScript.Turn(
                        awaited: "<failure", answer: Array(scene.wrongLogin.auth.utf8))
                    script.turns = [script.turns[0], again, again]
                    return script
                }),
            Attack(
                name: "device-logins", connections: 50,
                aims: [.reach(.failedDeviceLogins), .reach(.closed(.loginRefused))],
                script: { scene, number in
                    var device = scene.devices[number % scene.devices.count]
                    device.secret ^= 1
                    return HostileScript(listener: .devices, opening: deviceLogin(device))
                }),
        ]
    }

    /// Attacks within an app server's stream.
    static var streams: [Attack] {
        [
            Attack(
                name: "large-stanzas", connections: 20,
                aims: [.reach(.appServerLogins), .reach(.blocks), .reach(.closed(.tooLarge))],
                script: { scene, number in
                    var script = HostileScript.appServer(scene.login)
                    // Every other one does not even log in.
                    if number.isMultiple(of: 2) {
                        script.turns = [
                            .init(awaited: "</stream:features>", answer: Array("<auth>".utf8))
                        ]
                    } else {
                        script.turns[3].answer = Array("<message><gcm xmlns=\"google:mobile:data\">".utf8)
                    }
                    script.block = { _ in [UInt8](repeating: 0x41, count: 16_384) }
                    return script
                }),
            Attack(
                name: "deep-stanzas", connections: 20,
                aims: [.reach(.appServerLogins), .reach(.closed(.tooLarge))],
                script: { scene, number in
                    var script = HostileScript.appServer(scene.login)
                    // Every other one does not log in; its elements stay below the limit before login.
                    let isStranger = number.isMultiple(of: 2)
                    if isStranger { script.turns = [.init(awaited: "</stream:features>", answer: [])] }
                    script.block = { _ in
                        Array(String(repeating: "<a>", count: isStranger ? 500 : 5_000).utf8)
                    }
                    return script
                }),
            Attack(
                name: "entity-bombs", connections: 50,
                aims: [.reach(.handshakes), .reach(.closed(.restrictedXML))],
                script: { scene, _ in
                    HostileScript(listener: .appServers, opening: Array((entities + scene.login.header).utf8))
                }),
            Attack(
                name: "compression", connections: 20,
                aims: [.reach(.handshakes), .reach(.closed(.protocolViolation))],
                script: { scene, _ in
                    let offer =
                        "<compress xmlns=\"http://jabber.org/protocol/compress\"><method>zlib</method></compress>"
                    var script = HostileScript.appServer(scene.login)
                    script.turns = [.init(awaited: "</stream:features>", answer: Array(offer.utf8))]
                    script.block = { _ in Array(offer.utf8) }
                    return script
                }),
            Attack(
                name: "ack-flood", connections: 10,
                aims: [.reach(.appServerLogins), .reach(.unknownAcks, 50)],
                script: { scene, number in
                    stanzas(scene, 50) {
                        "{\"to\":\"\(scene.devices[0].token)\",\"message_id\":\"never-\(number)-\($0)\",\"message_type\":\"ack\"}"
                    }
                }),
            Attack(
                name: "message-flood", connections: 10,
                aims: [.reach(.appServerLogins), .reach(.acks, 100)],
                script: { scene, number in
                    // Three windows at once, to devices that are offline; responses are ignored.
                    stanzas(scene, 300) {
                        "{\"to\":\"\(scene.devices[number % scene.devices.count].token)\",\"message_id\":\"f\($0)\",\"time_to_live\":0}"
                    }
                }),
            Attack(
                name: "never-reading", connections: 10,
                aims: [
                    .reach(.appServerLogins), .reach(.refusals, 200),
                    .reach(.closed(.slowConsumer), after: Limits.Connection.writeDeadlineSeconds),
                ],
                script: { scene, _ in
                    // Each is refused with a text that is never read.
                    var script = stanzas(scene, 200) {
                        "{\"to\":\"unknown\",\"message_id\":\"r\($0)\",\"data\":7}"
                    }
                    script.reads = false
                    return script
                }),
        ]
    }

    /// Milliseconds between two bytes of slow peers.
    private static let slow: Int64 = 1_000

    /// Returns a script of an app server that logs in and then sends `count` stanzas at once; each has its own number.
    private static func stanzas(
        _ scene: AttackScene, _ count: Int, _ payload: @escaping (Int) -> String
    ) -> HostileScript {
        var script = HostileScript.appServer(scene.login)
        script.pauseMilliseconds = 50
        script.block = { block in
            let texts = (0..<count).map {
                "<message><gcm xmlns=\"google:mobile:data\">\(payload(block * count + $0))</gcm></message>"
            }
            return Array(texts.joined().utf8)
        }
        return script
    }

    /// A billion laughs.
    private static let entities: String = {
        var text = "<?xml version=\"1.0\"?><!DOCTYPE l [<!ENTITY l0 \"lol\">"
        for level in 1...9 {
            let inner = String(repeating: "&l\(level - 1);", count: 10)
            text += "<!ENTITY l\(level) \"\(inner)\">"
        }
        return text + "]><l>&l9;</l>"
    }()
}
