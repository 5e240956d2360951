import Basics
import Client
import ClientProtocol
import Operator
import Synchronization
import Transport
import Wire

/// A command that runs on a thread of its own, and its answer.
private final class RunningCommand: Sendable {
    private let command: AddAPNsCredential
    private let path: String
    private let state = Mutex<Result<AddAPNsCredential.Answer, BenchError>?>(nil)

    init(_ command: AddAPNsCredential, path: String) {
        self.command = command
        self.path = path
    }

    /// The answer. `nil` before it has arrived.
    var answer: Result<AddAPNsCredential.Answer, BenchError>? { state.withLock { $0 } }

    /// Starts the thread, which the caller joins.
    func start() throws(BenchError) -> Thread {
        do throws(TransportError) { return try Thread(name: "bench-command", body) } catch {
            throw BenchError(error.description)
        }
    }

    private var body: @Sendable () -> Void {
        {
            let answer: Result<AddAPNsCredential.Answer, BenchError>
            do throws(BenchError) {
                answer = .success(try DaemonTarget.control(self.command, self.path))
            } catch { answer = .failure(error) }
            self.state.withLock { $0 = answer }
        }
    }
}

extension DaemonTarget {
    /// Any IDs of the right form: the responder does not check provider tokens.
    private static let keyID = "BENCH12345"
    private static let team = "BENCHTEAM1"

    /// Adds a key with which ccsd authenticates to the responder.
    ///
    /// ccsd tests it before it answers, so the command must not block the thread of the responder.
    func addCredential(of responder: AppleResponder) throws(BenchError) {
        let file: [UInt8]
        do throws(TransportError) { file = try SmallFile.read(responder.authority.keyFile) } catch {
            throw BenchError(error.description)
        }
        let command = RunningCommand(
            AddAPNsCredential(
                file: Redacted(file), keyID: Self.keyID, team: Self.team, testBundle: Self.category),
            path: controlPath)
        let thread = try command.start()
        // The command ends by itself: its connection has a time limit.
        while command.answer == nil { bench.turn(waitMilliseconds: 20) }
        thread.join()
        let tests = try command.answer?.get().tests ?? []
        guard !tests.isEmpty, tests.allSatisfy({ $0.result == .accepted }) else {
            throw BenchError("the responder was not reached: \(tests.map(\.detail))")
        }
    }

    /// Imports device tokens of an iOS app, as app servers do. Returns their registrations.
    func importApps(_ count: Int, progress: (Int) -> Void) throws(BenchError) -> [BenchDevice] {
        let client = HTTPClient(
            reactor: bench.reactor,
            endpoint: Endpoint(address: https, serverName: "localhost", tls: bench.tls))
        defer { client.close() }
        var apps: [BenchDevice] = []
        while apps.count < count {
            let end = min(count, apps.count + Limits.Installation.appleTokensPerImport)
            apps += try importApps((apps.count..<end).map(Self.deviceToken), client)
            progress(apps.count)
        }
        return apps
    }

    /// Returns a device token that no other number has.
    private static func deviceToken(_ number: Int) -> String {
        Figure.padLeft(String(number, radix: 16), 64, "a")
    }

    private func importApps(_ tokens: [String], _ client: HTTPClient) throws(BenchError) -> [BenchDevice] {
        var call = HTTPCall("POST", "/iid/v1:batchImport")
        call.add("Content-Type", "application/json")
        call.headers.append(("Authorization", Redacted("key=" + String(decoding: key, as: UTF8.self))))
        call.body = Array(
            JSONValue.object([
                .init("application", .string(Self.category)), .init("sandbox", .boolean(false)),
                .init("apns_tokens", .array(tokens.map { .string($0) })),
            ]).compact.utf8)
        do throws(ClientError) {
            let answer = try client.answer(to: call)
            let results = (try? JSONValue(parsing: answer.body.raw))?["results"]?.elements ?? []
            let registered = results.compactMap { $0["registration_token"]?.text }
            guard registered.count == tokens.count else { throw .status(answer.status, answer.text) }
            return registered.map { BenchDevice(number: 0, secret: 0, token: $0) }
        } catch { throw BenchError("ccsd, batchImport: \(error)") }
    }
}
