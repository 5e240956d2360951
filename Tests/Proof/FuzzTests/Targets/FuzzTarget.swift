/// Parsers of untrusted input, each with properties that must hold for any input.
public enum FuzzTarget: String, CaseIterable, Sendable {
    /// Streams of app servers, with libxml2 as the reference parser.
    case xml
    /// JSON values, and the fields of a payload.
    case json
    /// Messages of a logged-in app server, up to their submission and answer.
    case ccs
    /// The login of an app server by PLAIN and SCRAM, as messages and as a conversation.
    case sasl
    /// MCS frames.
    case mcs
    /// A logged-in device.
    case device
    /// HTTP/1.1 requests.
    case http1
    /// HTTP/2 frames to a server connection and session.
    case http2
    /// HTTP/2 frames to a client connection.
    case http2client
    /// The APNs gateway and its HTTP/2 connections, with any behaviour of Apple's servers.
    case apns
    /// Requests to each endpoint: legacy sends, HTTP v1, batches, groups, tokens, assertions, Web Push.
    case requests
    /// Request bodies: forms, gzip, multipart, check-ins, conditions.
    case bodies
    /// Tokens, keys and IDs that are returned to the server.
    case tokens
    /// Encrypted bodies of Web Push.
    case webpush
    /// The config file.
    case config
    /// Headers of the PROXY protocol.
    case proxy
    /// The stream of a NATS server, the connection to it, and answers of JetStream.
    case nats
    /// Heartbeats of the nodes of a cluster.
    case heartbeat
    /// The stream of another node of a cluster.
    case link
    /// Records of the store.
    case records
    /// What the nodes of a cluster exchange: batches, events and commands.
    case nodes
    /// The streams by which a node of a cluster copies the store of another one.
    case copies
    /// A planted fault outside of ccsd, to check that the fuzzer finds it.
    case canary

    /// All targets but the planted fault.
    public static let real = allCases.filter { $0 != .canary }

    /// Checks the properties for one input.
    public func run(_ input: [UInt8]) throws(Violation) {
        switch self {
        case .xml: try fuzzXML(input)
        case .json: try fuzzJSON(input)
        case .ccs: try fuzzCCS(input)
        case .sasl: try fuzzSASL(input)
        case .mcs: try fuzzMCS(input)
        case .device: try fuzzDevice(input)
        case .http1: try fuzzHTTP1(input)
        case .http2: try fuzzHTTP2(input)
        case .http2client: try fuzzHTTP2Client(input)
        case .apns: try fuzzAPNs(input)
        case .requests: try fuzzRequests(input)
        case .bodies: try fuzzBodies(input)
        case .tokens: try fuzzTokens(input)
        case .webpush: try fuzzWebPush(input)
        case .config: try fuzzConfig(input)
        case .proxy: try fuzzProxy(input)
        case .nats: try fuzzNATS(input)
        case .heartbeat: try fuzzHeartbeat(input)
        case .link: try fuzzLink(input)
        case .records: try fuzzRecords(input)
        case .nodes: try fuzzNodes(input)
        case .copies: try fuzzCopies(input)
        case .canary: try fuzzCanary(input)
        }
    }
}

/// A violated property.
public struct Violation: Error, CustomStringConvertible {
    /// The property and the input.
    public let description: String
}

/// Throws unless a property holds.
func demand(_ holds: Bool, _ reason: @autoclosure () -> String) throws(Violation) {
    if !holds { throw Violation(description: reason()) }
}

/// Returns a number derived from an input, so that random choices are reproducible.
func seed(of input: [UInt8]) -> UInt64 { input.reduce(1) { $0 &* 31 &+ UInt64($1) } }
