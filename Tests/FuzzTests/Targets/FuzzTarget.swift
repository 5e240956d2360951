/// What takes in octets that others wrote, each with a property that must hold for any input.
public enum FuzzTarget: String, CaseIterable, Sendable {
    /// Streams of app servers, with libxml2 as the second opinion.
    case xml
    /// JSON as a value, and the fields that are read from it.
    case json
    /// Messages of an app server that is logged in, up to their submission and answer.
    case ccs
    /// Login of an app server: PLAIN and SCRAM, as messages and as a conversation.
    case sasl
    /// Frames of the device link.
    case mcs
    /// A device that is logged in.
    case device
    /// Requests of HTTP/1.1.
    case http1
    /// Frames of HTTP/2, to the connection and to the session.
    case http2
    /// Frames of an HTTP/2 server, to a connection of ours.
    case http2client
    /// Requests to each endpoint: legacy sends, HTTP v1, batches, groups, tokens, assertions, web push.
    case requests
    /// Bodies by themselves: forms, gzip, multipart, check-ins, conditions.
    case bodies
    /// Tokens, keys and ids that come back to the server that made them.
    case tokens
    /// Encrypted bodies of web push.
    case webpush
    /// The config file.
    case config
    /// Headers of the PROXY protocol.
    case proxy
    /// Records of the store.
    case records
    /// No part of ccsd: a fault that is planted to see that the fuzzer finds it.
    case canary

    /// All but the planted fault.
    public static let real = allCases.filter { $0 != .canary }

    /// Tries one input.
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
        case .requests: try fuzzRequests(input)
        case .bodies: try fuzzBodies(input)
        case .tokens: try fuzzTokens(input)
        case .webpush: try fuzzWebPush(input)
        case .config: try fuzzConfig(input)
        case .proxy: try fuzzProxy(input)
        case .records: try fuzzRecords(input)
        case .canary: try fuzzCanary(input)
        }
    }
}

/// A property that did not hold.
public struct Violation: Error, CustomStringConvertible {
    /// Which, and for what.
    public let description: String
}

/// Throws unless a property holds.
func demand(_ holds: Bool, _ reason: @autoclosure () -> String) throws(Violation) {
    if !holds { throw Violation(description: reason()) }
}

/// A number made of an input, so that what is drawn is the same whenever it is tried.
func seed(of input: [UInt8]) -> UInt64 { input.reduce(1) { $0 &* 31 &+ UInt64($1) } }
