import Basics
public import ClientProtocol
public import Transport

/// Why a tool failed, and what to do next.
public struct Failure: Error, Equatable {
    /// The exit code, by sysexits(3).
    public enum Code: Int32, Sendable, CaseIterable {
        case failure = 1
        case usage = 64
        case badData = 65
        case unavailable = 69
        case software = 70
        case inputOutput = 74
        case noPermission = 77
    }

    /// The exit code.
    public var code: Code
    /// What went wrong, without a full stop.
    public var problem: String
    /// What to do next; empty if there is no advice.
    public var hint: String

    /// Creates a failure.
    public init(_ code: Code, _ problem: String, hint: String = "") {
        self.code = code
        self.problem = problem
        self.hint = hint
    }

    /// The failure for a transport error.
    public init(_ error: TransportError) { self.init(.unavailable, error.description) }

    /// The failure for a request to a server.
    public init(_ error: ClientError, _ endpoint: Endpoint) {
        let place = endpoint.address.description
        switch error {
        case .connection(let reason, let detail):
            let words = detail.isEmpty ? reason.rawValue : detail
            self.init(.unavailable, "no connection to \(place): \(words)", hint: Self.hint(for: words))
        case .noAnswer: self.init(.unavailable, "\(place) did not answer in time")
        case .refused("INVALID_SENDER"):
            self.init(
                .failure, "unknown sender ID: the server has no such sender",
                hint: "list the senders of the server: ccsctl senders list")
        case .refused("AUTHENTICATION_FAILED"):
            self.init(
                .failure, "unknown device: the server does not accept its credentials",
                hint: "remove the state file, or name another with --state, and register again")
        case .refused, .status, .malformed: self.init(.failure, error.description)
        }
    }

    /// Returns the advice for a failed connection.
    public static func hint(for words: String) -> String {
        if words.contains("certificate") {
            return "name the CA of the server with --ca FILE, or use --insecure on your own machine"
        }
        return "check that ccsd is running, and that --server and the ports are right"
    }

    /// The failure for a command over the control socket.
    public init(_ error: ControlError, path: String) {
        switch error {
        case .noSocket:
            self.init(
                .unavailable, "there is no control socket at \(path)",
                hint: "start ccsd, or give the socket of a running one: --socket PATH")
        case .notRunning:
            self.init(
                .unavailable, "ccsd does not listen at \(path)",
                hint: "start ccsd, or check its log: journalctl -u ccsd")
        case .notPermitted:
            self.init(
                .noPermission, "this user may not open \(path)",
                hint: "run ccsctl as the user that runs ccsd, or with sudo")
        case .pathTooLong:
            self.init(.usage, "\(path) is too long for a socket", hint: "expected at most 107 bytes")
        case .silent(let seconds):
            self.init(
                .unavailable, "no response from ccsd for \(seconds) seconds",
                hint: "check its log and the disk")
        case .ended:
            self.init(.unavailable, "ccsd closed the connection before it answered", hint: "check its log")
        case .malformed(let what):
            self.init(
                .software, "ccsd sent \(what)",
                hint: "check that ccsctl and ccsd have the same version: ccsctl version")
        case .system(let words): self.init(.inputOutput, "\(path): \(words)")
        }
    }
}
