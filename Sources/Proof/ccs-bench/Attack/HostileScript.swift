import Basics

/// What one hostile connection sends, and how.
struct HostileScript {
    /// The port that it connects to.
    enum Listener {
        case appServers
        case devices
        case https
    }

    /// How far it takes part in TLS.
    enum TLSMode {
        /// It uses TCP alone: for a listener with TLS that is a handshake which never ends.
        case none
        /// TLS without an application protocol.
        case tls
        /// TLS with ALPN `h2`.
        case http2
    }

    /// One step of a conversation: a text to wait for, and the bytes to send then. An empty text stands for any bytes.
    struct Turn {
        var awaited: StaticString
        var answer: [UInt8]
    }

    var listener: Listener
    var tlsMode = TLSMode.tls
    /// Sent as soon as the connection is open.
    var opening: [UInt8] = []
    /// Steps before the flood starts, such as a login.
    var turns: [Turn] = []
    /// Returns the block of the flood with a number; `nil` if there is no flood.
    var block: ((Int) -> [UInt8])?
    /// Maximum of blocks on one connection.
    var blocks = Int.max
    /// Milliseconds between two blocks.
    var pauseMilliseconds: Int64 = 20
    /// Whether it reads input during its flood.
    var reads = true
}

extension HostileScript {
    /// Returns a script that logs an app server in.
    static func appServer(_ login: StreamCredential) -> HostileScript {
        var script = HostileScript(listener: .appServers, opening: Array(login.header.utf8))
        script.turns = [
            Turn(awaited: "</stream:features>", answer: Array(login.auth.utf8)),
            Turn(awaited: "<success", answer: Array(login.header.utf8)),
            Turn(awaited: "</stream:features>", answer: Array(login.bind.utf8)),
            Turn(awaited: "</iq>", answer: []),
        ]
        return script
    }
}
