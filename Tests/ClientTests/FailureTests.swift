import Basics
import BasicsSupport
import Client
import ClientProtocol
import Testing
import Transport

/// What the tools exit with, and what they say to do next.
@Suite struct FailureTests {
    @Test("Each way in which the daemon cannot be asked has its exit code")
    func control() {
        let table: [(ControlError, Failure.Code)] = [
            (.noSocket, .unavailable), (.notRunning, .unavailable), (.notPermitted, .noPermission),
            (.pathTooLong, .usage), (.silent(seconds: 1), .unavailable), (.ended, .unavailable),
            (.malformed("x"), .software), (.system("x"), .inputOutput),
        ]
        for (error, code) in table { #expect(Failure(error, path: "/p").code == code, "\(error)") }
    }

    @Test("A connection that failed is told in the words of the system, with what to do about it")
    func connection() {
        let endpoint = Endpoint(address: .loopback(port: 1), tls: nil)
        let plain = Failure(.connection(.connectFailed, detail: ""), endpoint)
        #expect(plain.problem.hasSuffix(": connect_failed") && !plain.hint.contains("--ca"))
        let words = "certificate verify failed"
        let untrusted = Failure(.connection(.handshakeFailed, detail: words), endpoint)
        #expect(untrusted.problem.hasSuffix(": \(words)") && untrusted.hint.contains("--ca"))
    }

    @Test("A path to a control socket has as many bytes as the kernel takes", arguments: [107, 108])
    func path(bytes: Int) {
        let path = "/" + String(repeating: "x", count: bytes - 1)
        let expected: ControlError = bytes == 107 ? .noSocket : .pathTooLong
        do throws(ControlError) {
            _ = try ControlClient(path: path)
            Issue.record("it is open")
        } catch { #expect(error == expected) }
    }
}
