import Basics
import BasicsSupport
import Client
import Testing
import Transport

@testable import TestBench

@Suite("Virtual devices that join")
struct JoiningTests {
    @Test("devices that could not join take no place from others")
    func failures() throws {
        let reactor = try Reactor(index: 0)
        defer { reactor.end() }
        // Nothing listens there any more.
        let closed = Endpoint(address: try ListeningSocket(tcp: .loopback(port: 0)).address, tls: nil)
        let host = BenchHost(
            reactor: reactor,
            settings: BenchHost.Settings(
                devices: closed, https: closed, appServers: nil, recorderKey: Redacted([]), file: "/nowhere"),
            log: .silent)
        var (failed, full) = (0, 0)
        func join() {
            host.add(app: "com.example.app", sender: SenderID(100), label: "") { result in
                if case .failure(.full) = result { full += 1 } else { failed += 1 }
            }
        }
        func run(until isDone: () -> Bool) -> Bool {
            let end = Now.read().monotonic.advanced(seconds: 60)
            while !isDone(), Now.read().monotonic < end { reactor.turn(waitMilliseconds: 20) }
            return isDone()
        }
        let most = Limits.TestBench.devices
        for _ in 1...most + 5 { join() }
        #expect(run { failed + full == most + 5 })
        #expect(failed == most && full == 5)
        for _ in 1...most + 5 { join() }
        #expect(run { failed + full == 2 * (most + 5) })
        #expect(failed == 2 * most && full == 10)
    }
}
