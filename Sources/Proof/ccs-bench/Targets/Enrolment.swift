import Basics
import Client
import ClientProtocol
import Transport
import Wire

/// Creates devices in the usual way: each checks in and registers an app over HTTPS, and is subscribed to a topic through
/// Instance ID. Connections are reused, so that a million devices take minutes.
final class Enrolment {
    private let target: DaemonTarget
    private let reactor: Reactor
    private let endpoint: Endpoint
    private let app: DeviceCalls.App
    private let count: Int
    private let kept: Int
    private let topics: [String]
    private var lanes: [HTTPClient] = []
    private var begun = 0
    private var registered = 0
    private var subscribed = 0
    private var waiting: [String] = []
    private var devices: [BenchDevice] = []
    private var failure: BenchError?
    /// Tokens in one request (http 7.3).
    private static let tokensPerRequest = 1_000

    /// Creates `count` devices, of which the first `kept` are returned; all subscribe to `topics`.
    init(_ target: DaemonTarget, _ bench: Bench, count: Int, kept: Int, topics: [String] = []) {
        self.target = target
        reactor = bench.reactor
        endpoint = Endpoint(address: target.https, serverName: "localhost", tls: bench.tls)
        app = DeviceCalls.App(category: DaemonTarget.category, sender: String(target.sender.number))
        self.count = count
        self.kept = kept
        self.topics = topics
    }

    /// Creates the devices; calls `progress` with the number so far.
    func run(progress: (Int) -> Void) throws(BenchError) -> [BenchDevice] {
        for _ in 0..<min(count, Limits.Client.enrolmentsAtOnce - 4) {
            let lane = HTTPClient(reactor: reactor, endpoint: endpoint)
            lanes.append(lane)
            enrol(lane)
        }
        let end = Now.read().monotonic.advanced(seconds: 60 + count / 20)
        while failure == nil, registered < count || subscribed < count * topics.count {
            reactor.turn(waitMilliseconds: 100)
            progress(topics.isEmpty ? registered : subscribed / topics.count)
            if Now.read().monotonic > end { throw BenchError("ccsd did not enrol the devices in time") }
        }
        for lane in lanes { lane.close() }
        if let failure { throw failure }
        return devices
    }

    private func enrol(_ lane: HTTPClient) {
        guard begun < count, failure == nil else { return }
        begun += 1
        let number = begun
        lane.send(DeviceCalls.checkIn(nil)) { [self] answer in
            do throws(ClientError) {
                let identity = try DeviceCalls.identity(try answer.get())
                lane.send(DeviceCalls.register(app, identity)) { [self] answer in
                    do throws(ClientError) {
                        registered(identity, try DeviceCalls.token(try answer.get()), number)
                        enrol(lane)
                    } catch { fail("registration", error) }
                }
            } catch { fail("check-in", error) }
        }
    }

    private func registered(_ identity: DeviceIdentity, _ token: String, _ number: Int) {
        registered += 1
        if number <= kept {
            devices.append(
                BenchDevice(
                    number: identity.androidID, secret: identity.securityToken.revealed, token: token))
        }
        guard !topics.isEmpty else { return }
        waiting.append(token)
        guard waiting.count == Self.tokensPerRequest || registered == count else { return }
        for topic in topics { subscribe(waiting, to: topic) }
        waiting = []
    }

    private func subscribe(_ tokens: [String], to topic: String) {
        var call = HTTPCall("POST", "/iid/v1:batchAdd")
        call.add("Content-Type", "application/json")
        call.headers.append(("Authorization", Redacted("key=" + String(decoding: target.key, as: UTF8.self))))
        call.body = Array(
            JSONValue.object([
                .init("to", .string("/topics/\(topic)")),
                .init("registration_tokens", .array(tokens.map { .string($0) })),
            ]).compact.utf8)
        let lane = HTTPClient(reactor: reactor, endpoint: endpoint)
        lane.send(call) { [self] answer in
            lane.close()
            do throws(ClientError) {
                let answer = try answer.get()
                guard answer.status == 200, !answer.text.contains("error") else {
                    throw .status(answer.status, String(answer.text.prefix(200)))
                }
                subscribed += tokens.count
            } catch { fail("batchAdd", error) }
        }
    }

    private func fail(_ what: String, _ error: ClientError) {
        if failure == nil { failure = BenchError("ccsd, \(what): \(error)") }
    }
}

extension DaemonTarget {
    func makeDevices(_ count: Int, progress: (Int) -> Void) throws(BenchError) -> [BenchDevice] {
        try Enrolment(self, bench, count: count, kept: count).run(progress: progress)
    }
}
