import Basics

/// What one hostile connection says, and how.
struct HostileScript {
    /// Where it knocks.
    enum Door {
        case appServers
        case devices
        case https
    }

    /// How far it takes part in TLS.
    enum Disguise {
        /// It speaks TCP alone: to a listener with TLS that is a handshake which never ends.
        case none
        /// TLS without an application protocol.
        case tls
        /// TLS with ALPN `h2`.
        case http2
    }

    /// One step of a conversation: what is waited for, and what is said then. Nothing to wait for means: any bytes.
    struct Turn {
        var awaited: StaticString
        var answer: [UInt8]
    }

    var door: Door
    var disguise = Disguise.tls
    /// Said as soon as the connection is open.
    var opening: [UInt8] = []
    /// What must be said before the flood begins, a login for instance.
    var turns: [Turn] = []
    /// The block of the flood with a number; nil: it says no more.
    var block: ((Int) -> [UInt8])?
    /// Blocks of one connection at most.
    var blocks = Int.max
    /// Milliseconds between two blocks.
    var pauseMilliseconds: Int64 = 20
    /// Whether it reads what comes once its flood has begun.
    var reads = true
}

extension HostileScript {
    /// The login of an app server, as the turns of a conversation.
    static func appServer(_ login: StreamCredential) -> HostileScript {
        var script = HostileScript(door: .appServers, opening: Array(login.header.utf8))
        script.turns = [
            Turn(awaited: "</stream:features>", answer: Array(login.auth.utf8)),
            Turn(awaited: "<success", answer: Array(login.header.utf8)),
            Turn(awaited: "</stream:features>", answer: Array(login.bind.utf8)),
            Turn(awaited: "</iq>", answer: []),
        ]
        return script
    }
}
