import Basics
public import ClientProtocol
public import Transport

/// Why a tool could not do what it was asked for, and what to do next.
public struct Failure: Error, Equatable {
    /// What kind of failure it is; the numbers are those of sysexits(3), which the tools exit with.
    public enum Code: Int32, Sendable, CaseIterable {
        case failure = 1
        case usage = 64
        case badData = 65
        case unavailable = 69
        case software = 70
        case inputOutput = 74
        case noPermission = 77
    }

    /// The kind.
    public var code: Code
    /// What went wrong, without a full stop.
    public var problem: String
    /// What to do next; empty where there is nothing to say.
    public var hint: String

    /// A failure.
    public init(_ code: Code, _ problem: String, hint: String = "") {
        self.code = code
        self.problem = problem
        self.hint = hint
    }

    /// The transport failed.
    public init(_ error: TransportError) { self.init(.unavailable, error.description) }

    /// A request to a server failed.
    public init(_ error: ClientError, _ endpoint: Endpoint) {
        let place = endpoint.address.description
        switch error {
        case .connection(let reason, let detail):
            let words = detail.isEmpty ? reason.rawValue : detail
            self.init(.unavailable, "no connection to \(place): \(words)", hint: Self.hint(for: words))
        case .noAnswer: self.init(.unavailable, "\(place) did not answer in time")
        case .refused("INVALID_SENDER"):
            self.init(
                .failure, "the server does not know this sender ID",
                hint: "ccsctl senders list shows those it knows")
        case .refused("AUTHENTICATION_FAILED"):
            self.init(
                .failure, "the server does not know this device",
                hint: "remove the state file, or name another with --state, and register again")
        case .refused, .status, .malformed: self.init(.failure, error.description)
        }
    }

    /// What to do about a connection that failed.
    public static func hint(for words: String) -> String {
        if words.contains("certificate") {
            return "name the CA of the server with --ca FILE, or use --insecure on your own machine"
        }
        return "does ccsd run, and are --server and the ports right?"
    }

    /// The daemon could not be asked over its control socket.
    public init(_ error: ControlError, path: String) {
        switch error {
        case .noSocket:
            self.init(
                .unavailable, "there is no control socket at \(path)",
                hint: "start ccsd, or name the socket of the one that runs: --socket PATH")
        case .notRunning:
            self.init(
                .unavailable, "no ccsd answers at \(path)",
                hint: "it is not running: start ccsd, or look at its log (journalctl -u ccsd)")
        case .notPermitted:
            self.init(
                .noPermission, "this user may not open \(path)",
                hint: "run ccsctl as the user that runs ccsd, or with sudo")
        case .pathTooLong:
            self.init(.usage, "\(path) is too long for a socket", hint: "the kernel takes 107 bytes")
        case .silent(let seconds):
            self.init(
                .unavailable, "ccsd said nothing for \(seconds) seconds",
                hint: "look at its log, and at the disk")
        case .ended:
            self.init(.unavailable, "ccsd closed the connection before it answered", hint: "look at its log")
        case .malformed(let what):
            self.init(
                .software, "ccsd sent \(what)",
                hint: "are ccsctl and ccsd of the same version? ccsctl version tells")
        case .system(let words): self.init(.inputOutput, "\(path): \(words)")
        }
    }
}
