import Basics
import BasicsSupport
import Client
import ClientProtocol
import Testing
import Transport

/// The exit codes and advice of the tools.
@Suite struct FailureTests {
    @Test("Each failure of the control socket has its exit code")
    func control() {
        let table: [(ControlError, Failure.Code)] = [
            (.noSocket, .unavailable), (.notRunning, .unavailable), (.notPermitted, .noPermission),
            (.pathTooLong, .usage), (.silent(seconds: 1), .unavailable), (.ended, .unavailable),
            (.malformed("x"), .software), (.system("x"), .inputOutput),
        ]
        for (error, code) in table { #expect(Failure(error, path: "/p").code == code, "\(error)") }
    }

    @Test("A failed connection is reported with the error text of the system and advice")
    func connection() {
        let endpoint = Endpoint(address: .loopback(port: 1), tls: nil)
        let plain = Failure(.connection(.connectFailed, detail: ""), endpoint)
        #expect(plain.problem.hasSuffix(": connect_failed") && !plain.hint.contains("--ca"))
        let words = "certificate verify failed"
        let untrusted = Failure(.connection(.handshakeFailed, detail: words), endpoint)
        #expect(untrusted.problem.hasSuffix(": \(words)") && untrusted.hint.contains("--ca"))
    }

    @Test("The path of a control socket is limited as by the kernel", arguments: [107, 108])
    func path(bytes: Int) {
        let path = "/" + String(repeating: "x", count: bytes - 1)
        let expected: ControlError = bytes == 107 ? .noSocket : .pathTooLong
        do throws(ControlError) {
            _ = try ControlClient(path: path)
            Issue.record("the socket was opened")
        } catch { #expect(error == expected) }
    }
}
