public import Basics

/// Why a link ended, or was not made.
public enum LinkFailure: Hashable, Sendable {
    /// The node could not be reached; contains the system's words.
    case unreachable(String)
    /// The TLS handshake failed: no certificate, a stranger's, an expired one or another node's; contains OpenSSL's words.
    case untrusted(String)
    /// The TLS handshake, or the introduction after it, took too long.
    case handshakeDeadline
    /// The certificate of the peer names no node of this cluster.
    case notANode
    /// The certificate names another node than the one that was dialled.
    case otherNode(NodeNumber)
    /// The node with the higher number has dialled, or this node itself: only the lower one dials.
    case wrongDirection(NodeNumber)
    /// The peer introduced itself as another node than its certificate names.
    case imposter(NodeNumber)
    /// The peer introduced itself as part of another cluster.
    case otherCluster(ClusterID)
    /// The peer speaks no version that this node speaks.
    case noCommonVersion(lowest: UInt8, highest: UInt8)
    /// The peer sent something else than the frames of a link.
    case invalid(LinkFault)
    /// The peer has refused the link, with this code.
    case refused(LinkRefusal)
    /// Nothing has arrived from the peer for a second and a half.
    case silent
    /// Too much waits for the peer, which reads too slowly.
    case queueFull
    /// The peer has closed the link, or the connection broke; contains the reason.
    case closed(String)
    /// The peer has connected again.
    case replaced
    /// The owner of this node has dropped the peer, which is gone or at another address, or this node stops.
    case dropped
    /// Operators have removed the peer from the cluster.
    case removed
}

/// What is wrong with a frame.
public enum LinkFault: Hashable, Sendable {
    /// It is empty, or longer than its kind allows.
    case length(UInt32)
    /// Its kind is unknown.
    case kind(UInt8)
    /// Its kind does not belong here: a second hello, or another frame before the first.
    case order(UInt8)
    /// Its content is not as that of its kind.
    case content(UInt8)
}

/// What a node reports to the peer that it refuses.
public enum LinkRefusal: UInt8, CaseIterable, Sendable {
    case other = 0
    case notANode = 1
    case otherNode = 2
    case wrongDirection = 3
    case imposter = 4
    case otherCluster = 5
    case noCommonVersion = 6
    case invalid = 7
    case silent = 8
    case queueFull = 9
    case replaced = 10
    case dropped = 11
    case removed = 12
}

extension LinkFailure {
    /// What is reported to the peer.
    var refusal: LinkRefusal {
        switch self {
        case .notANode: .notANode
        case .otherNode: .otherNode
        case .wrongDirection: .wrongDirection
        case .imposter: .imposter
        case .otherCluster: .otherCluster
        case .noCommonVersion: .noCommonVersion
        case .invalid: .invalid
        case .silent: .silent
        case .queueFull: .queueFull
        case .replaced: .replaced
        case .dropped: .dropped
        case .removed: .removed
        case .unreachable, .untrusted, .handshakeDeadline, .refused, .closed: .other
        }
    }

    /// The failure in words, for the log.
    public var words: String {
        switch self {
        case .unreachable(let words): "the node cannot be reached: \(words)"
        case .untrusted(let words): "the certificates do not fit: \(words)"
        case .handshakeDeadline: "the handshake took longer than \(Limits.NodeLinks.handshakeMilliseconds) ms"
        case .notANode: "the certificate names no node of this cluster"
        case .otherNode(let node): "the certificate is that of node \(node.number)"
        case .wrongDirection(let node): "node \(node.number) dialled, but only the lower number of two dials"
        case .imposter(let node):
            "it introduced itself as node \(node.number), which its certificate does not name"
        case .otherCluster(let cluster): "it belongs to cluster \(cluster.text)"
        case .noCommonVersion(let lowest, let highest):
            "it speaks the link versions \(lowest) to \(highest), this node only \(LinkSession.versions)"
        case .invalid(let fault): "it sent an invalid frame: \(fault.words)"
        case .refused(let refusal): "it refused the link: \(refusal)"
        case .silent: "it was silent for \(Limits.NodeLinks.silenceMilliseconds) ms"
        case .queueFull: "it reads too slowly: more than \(Limits.NodeLinks.queueBytes) bytes would wait"
        case .closed(let words): "the connection ended: \(words)"
        case .replaced: "it connected again"
        case .dropped: "this node has ended it"
        case .removed: "the node was removed from the cluster"
        }
    }
}

extension LinkFault {
    /// The fault in words.
    var words: String {
        switch self {
        case .length(let length): "a length of \(length) bytes"
        case .kind(let kind): "the unknown kind \(kind)"
        case .order(let kind): "kind \(kind) at the wrong time"
        case .content(let kind): "the content of kind \(kind)"
        }
    }
}
