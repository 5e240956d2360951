import Basics

/// An effect that an attack must have before it counts as an attack.
///
/// Aims detect attacks that never reach their state: a login that fails, a stanza that is refused for another reason, a flood
/// that waits on the attacker's side.
struct AttackAim {
    /// The effect that is counted.
    let effect: AttackEffect
    /// The count below which the attack has failed.
    var floor = 1
    /// Seconds that an attack must last for this effect, such as a deadline.
    var afterSeconds = 0
    /// The scale, in percent, below which this effect cannot occur, such as a limit on all connections.
    var fromScale = 1

    /// Whether an attack of this duration and scale must have the effect.
    func isDue(seconds: Int, scale: Int) -> Bool { seconds >= afterSeconds && scale >= fromScale }

    static func reach(_ effect: AttackEffect, _ floor: Int = 1) -> AttackAim {
        AttackAim(effect: effect, floor: floor)
    }

    /// An effect that occurs only after a deadline.
    static func reach(_ effect: AttackEffect, after seconds: Int) -> AttackAim {
        AttackAim(effect: effect, afterSeconds: seconds)
    }

    /// An effect that occurs only at full scale.
    static func atFullScale(_ effect: AttackEffect) -> AttackAim { AttackAim(effect: effect, fromScale: 100) }
}

/// A kind of effect of attacks.
enum AttackEffect: Hashable {
    /// Connections that the server accepted.
    case accepted
    /// TLS handshakes that the server finished.
    case handshakes
    /// App server logins that the server accepted, and that it refused.
    case appServerLogins, failedAppServerLogins
    /// Device logins that the server accepted, and that it refused.
    case deviceLogins, failedDeviceLogins
    /// Blocks of floods that were sent.
    case blocks
    /// Bytes that the server read from devices and from HTTP clients, after decryption; good peers do not speak HTTP.
    case deviceBytes, requestBytes
    /// Connections that the server closed for a reason.
    case closed(CloseReason)
    /// Connections that the server closed at accept.
    case refusedAtAccept(ConnectionRefusal)
    /// HTTP responses with a status.
    case responses(Int)
    /// Requests and messages that were refused, for any reason.
    case refusals
    /// Upstream messages of devices that were refused.
    case refusedUpstreamMessages
    /// Acks of messages that were never sent.
    case unknownAcks
    /// Downstream messages that the server acknowledged to attackers.
    case acks
    /// Bytes that attackers received.
    case receivedBytes
    /// Connections that attackers still had at the end.
    case stillConnected
    /// HTTP/2 frames with which the server ended connections and streams.
    case goAways, streamResets
    /// Reloads that the server has finished.
    case reloads
    /// Renegotiations that were requested on an open connection and not granted.
    case renegotiationsRefused

    /// Its name in the report.
    var word: String {
        switch self {
        case .accepted: "accepted"
        case .handshakes: "handshakes"
        case .appServerLogins: "app server logins"
        case .failedAppServerLogins: "failed app server logins"
        case .deviceLogins: "device logins"
        case .failedDeviceLogins: "failed device logins"
        case .blocks: "blocks"
        case .deviceBytes: "bytes from devices"
        case .requestBytes: "bytes of requests"
        case .closed(let reason): "closed \(reason.rawValue)"
        case .refusedAtAccept(let reason): "refused \(reason.rawValue)"
        case .responses(let status): "HTTP \(status)"
        case .refusals: "refusals"
        case .refusedUpstreamMessages: "refused upstream messages"
        case .unknownAcks: "unknown acks"
        case .acks: "acks"
        case .receivedBytes: "bytes received"
        case .stillConnected: "still connected"
        case .goAways: "GOAWAY"
        case .streamResets: "RST_STREAM"
        case .reloads: "reloads"
        case .renegotiationsRefused: "renegotiations refused"
        }
    }

    /// Returns how often it happened.
    func count(in evidence: AttackEvidence) -> Int {
        let daemon = evidence.daemon
        return switch self {
        case .accepted: daemon.accepted
        case .handshakes: daemon.count(.handshakes, "ok")
        case .appServerLogins: daemon.count(.logins, "app_server", "ok")
        case .failedAppServerLogins: daemon.count(.logins, "app_server", "failed")
        case .deviceLogins: daemon.count(.logins, "device", "ok")
        case .failedDeviceLogins: daemon.count(.logins, "device", "failed")
        case .blocks: evidence.blocks
        case .deviceBytes: daemon.count(.receivedBytes, "device")
        case .requestBytes: daemon.count(.receivedBytes, "https")
        case .closed(let reason): daemon.count(.connectionsClosed, reason.rawValue)
        case .refusedAtAccept(let reason): daemon.count(.connectionsRefused, reason.rawValue)
        case .responses(let status):
            // The probe's own requests for the counters are not part of the attack.
            daemon.count(.httpResponses, "\(status)")
                - daemon.count(.httpResponses, "\(status)", "GET /metrics")
        case .refusals: daemon.count(.refusals)
        case .refusedUpstreamMessages: daemon.count(.messages, "upstream", "refused")
        case .unknownAcks: daemon.count(.unknownAcks)
        case .acks: evidence.answers["ack", default: 0]
        case .receivedBytes: evidence.receivedBytes
        case .stillConnected: evidence.stillConnected
        case .goAways: evidence.answers["GOAWAY", default: 0]
        case .streamResets: evidence.answers["RST_STREAM", default: 0]
        case .reloads: daemon.count(.configReloads, "ok")
        case .renegotiationsRefused: evidence.renegotiationsRefused
        }
    }
}

/// The evidence of an attack at one moment: the server's counters since the start, and those of the attackers.
struct AttackEvidence {
    var daemon = DaemonCounts()
    /// Connections that were started.
    var begun = 0
    var blocks = 0
    var receivedBytes = 0
    var stillConnected = 0
    var answers: [String: Int] = [:]
    var renegotiationsRefused = 0
}

/// How often an effect of an attack occurred.
struct AttackReach: Equatable {
    /// The name of the effect.
    var word: String
    var count: Int
    var floor: Int

    /// Whether it occurred too rarely.
    var isMissing: Bool { count < floor }
}

extension Attack {
    /// Returns how often each effect occurred that an attack of this duration and scale must have.
    func reached(_ evidence: AttackEvidence, seconds: Int, scale: Int) -> [AttackReach] {
        aims.filter { $0.isDue(seconds: seconds, scale: scale) }.map {
            AttackReach(word: $0.effect.word, count: $0.effect.count(in: evidence), floor: $0.floor)
        }
    }
}
