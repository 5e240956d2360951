/// A contestant of a comparison: one load on one server.
enum Contestant: String, CaseIterable {
    case relay
    case relayPlain = "relay-plain"
    case ccsdNow = "ccsd-ttl0"
    case ccsdDown = "ccsd-down"
    case ccsdUp = "ccsd-up"
    case mosquitto0 = "mosquitto-qos0"
    case mosquitto1 = "mosquitto-qos1"
    case nats
    case ejabberdCount = "ejabberd-ack"
    case ejabberdReceipt = "ejabberd-receipt"
    case prosodyCount = "prosody-ack"
    case prosodyReceipt = "prosody-receipt"

    /// Servers; several loads may use the same one.
    enum Host: String, CaseIterable {
        case relay
        case relayPlain = "relay-plain"
        case ccsd, mosquitto, nats, ejabberd, prosody

        /// The program that must be installed; `nil` if it is part of the project.
        var program: PeerProgram? {
            switch self {
            case .relay, .relayPlain, .ccsd: nil
            case .mosquitto: .mosquitto
            case .nats: .nats
            case .ejabberd: .ejabberd
            case .prosody: .prosody
            }
        }
    }

    /// Its server.
    var host: Host {
        switch self {
        case .relay: .relay
        case .relayPlain: .relayPlain
        case .ccsdNow, .ccsdDown, .ccsdUp: .ccsd
        case .mosquitto0, .mosquitto1: .mosquitto
        case .nats: .nats
        case .ejabberdCount, .ejabberdReceipt: .ejabberd
        case .prosodyCount, .prosodyReceipt: .prosody
        }
    }

    /// What an acknowledgement means there.
    var promise: String {
        switch self {
        case .relay: "forwarded, nothing stored; reads many TLS records at once"
        case .relayPlain: "forwarded, nothing stored; reads record by record"
        case .ccsdNow: "sent to the device or dropped, nothing stored"
        case .ccsdDown: "synced to disk"
        case .ccsdUp: "synced to disk, from devices to app servers"
        case .mosquitto0, .nats: "none: arrival counts"
        case .mosquitto1: "in the broker's memory, saved every half hour"
        case .ejabberdCount, .prosodyCount: "in the server's memory (XEP-0198)"
        case .ejabberdReceipt, .prosodyReceipt: "at the receiver (XEP-0184)"
        }
    }
}
