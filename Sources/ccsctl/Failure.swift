import Catalogue
import Client

/// Why the tool could not do what it was asked for, and what to do next.
struct Failure: Error, Equatable {
    var code: ExitCode
    var problem: String
    var hint: String

    /// A failure.
    init(_ code: ExitCode, _ problem: String, hint: String = "") {
        self.code = code
        self.problem = problem
        self.hint = hint
    }

    /// The daemon could not be asked.
    init(_ error: ControlError, path: String) {
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
