import Basics

/// One kind of attack on ccsd, with its intensity.
struct Attack {
    /// What the attack does in addition to its connections.
    enum Action {
        case none
        /// Repeated SIGHUP.
        case reloads
        /// A limit of descriptors just above the number that ccsd has open.
        case fewDescriptors
        /// TLS 1.2 connections that request renegotiation.
        case renegotiations
    }

    /// Its name in the table and for `--only`.
    let name: String
    /// Concurrent connections, and the maximum of new ones in a second, at full scale.
    var connections = 0
    var perSecond = 200
    /// Blocks that all connections together must send before the attack ends, at full scale; `nil` if only the time counts.
    var blocks: Int?
    var action = Action.none
    /// What it must cause at the server; otherwise the attack has not taken place.
    var aims: [AttackAim] = []
    /// Returns the script of the connection with a number.
    var script: ((AttackScene, Int) -> HostileScript)?

    /// The row without an attack: the baseline of the good peers.
    static let baseline = "none"

    /// All attacks, in the order in which they run.
    static var all: [Attack] {
        [Attack(name: baseline)] + openings + logins + streams + requests + http2 + links + actions
    }

    private static var actions: [Attack] {
        [
            Attack(name: "reload-storm", action: .reloads, aims: [.reach(.reloads)]),
            Attack(
                name: "renegotiation", action: .renegotiations,
                aims: [
                    .reach(.handshakes), .reach(.renegotiationsRefused), .reach(.closed(.protocolViolation)),
                ]),
            Attack(
                name: "no-descriptors", connections: 300, perSecond: 300, action: .fewDescriptors,
                aims: [.reach(.accepted), .reach(.refusedAtAccept(.noDescriptor)), .reach(.stillConnected)],
                script: { _, number in HostileScript(listener: listeners[number % 3], tlsMode: .none) }),
        ]
    }

    /// The ports, for attacks that use each of them in turn.
    static let listeners: [HostileScript.Listener] = [.appServers, .devices, .https]
}

/// The inputs of scripts.
struct AttackScene {
    /// An app server that may log in.
    var login: StreamCredential
    /// The same with a wrong key.
    var wrongLogin: StreamCredential
    /// The key that authorises requests of the legacy interface.
    var key: String
    /// Devices of the attackers.
    var devices: [BenchDevice]
    /// Returns well-formed tokens that no server made.
    func unknownTokens(_ count: Int, _ seed: Int) -> [String] {
        var random = SeededRandom(seed: UInt64(seed) + 1)
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        let model = Array((devices.first?.token ?? "0:x").utf8)
        return (0..<count).map { _ in
            // The shape of a real token: separators are kept, all other characters are random.
            String(
                decoding: model.map { byte in
                    byte == UInt8(ascii: ":") ? byte : letters[Int(random.next() & 63)]
                }, as: UTF8.self)
        }
    }
}
