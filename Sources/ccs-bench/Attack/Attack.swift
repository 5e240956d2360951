import Basics

/// One way of attacking ccsd, and how hard.
struct Attack {
    /// What it does beside its connections.
    enum Deed {
        case none
        /// SIGHUP, again and again.
        case reloads
        /// As few descriptors as ccsd has open, and a little more.
        case fewDescriptors
        /// TLS 1.2 connections that ask for a new handshake.
        case renegotiations
    }

    /// Its name in the table and for `--only`.
    let name: String
    /// Connections at once, and at most so many new ones in a second, at full scale.
    var connections = 0
    var perSecond = 200
    /// Blocks that all connections together are to send before it ends, at full scale; nil: what they send in the time.
    var blocks: Int?
    var deed = Deed.none
    /// What it must bring about at the server; an attack that does not has not taken place.
    var aims: [AttackAim] = []
    /// The script of the connection with a number.
    var script: ((AttackScene, Int) -> HostileScript)?

    /// The row without an attack: what the good ones see and leave behind by themselves.
    static let calm = "none"

    /// All of them, in the order in which they run.
    static var all: [Attack] {
        [Attack(name: calm)] + openings + logins + streams + requests + http2 + links + deeds
    }

    private static var deeds: [Attack] {
        [
            Attack(name: "reload-storm", deed: .reloads, aims: [.reach(.reloads)]),
            Attack(
                name: "renegotiation", deed: .renegotiations,
                aims: [
                    .reach(.handshakes), .reach(.renegotiationsRefused), .reach(.closed(.protocolViolation)),
                ]),
            Attack(
                name: "no-descriptors", connections: 300, perSecond: 300, deed: .fewDescriptors,
                aims: [.reach(.accepted), .reach(.turnedAway(.noDescriptor)), .reach(.heldOn)],
                script: { _, number in HostileScript(door: doors[number % 3], disguise: .none) }),
        ]
    }

    /// Every port, in turns.
    static let doors: [HostileScript.Door] = [.appServers, .devices, .https]
}

/// What scripts are made of.
struct AttackScene {
    /// An app server that may log in.
    var login: StreamCredential
    /// The same with a wrong key.
    var wrongLogin: StreamCredential
    /// What authorises a request of the legacy interface.
    var key: String
    /// Devices that are the attackers' own.
    var devices: [BenchDevice]
    /// A good device's token is not among these: they are well formed, and nobody has them.
    func unknownTokens(_ count: Int, _ seed: Int) -> [String] {
        var random = SeededRandom(seed: UInt64(seed) + 1)
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        let model = Array((devices.first?.token ?? "0:x").utf8)
        return (0..<count).map { _ in
            // Of the shape of a real token: separators stay, all else is drawn.
            String(
                decoding: model.map { octet in
                    octet == UInt8(ascii: ":") ? octet : letters[Int(random.next() & 63)]
                }, as: UTF8.self)
        }
    }
}
