import Basics
import Client
import ClientProtocol
import Operator
import Transport
import Wire

/// What a browser with the page Overview of the console does: it reads the stream of figures, and asks for health and status now and
/// then.
final class OpenConsole: ConnectionDelegate {
    /// Milliseconds between two questions for health and status.
    private static let questionMilliseconds: Int64 = 10_000

    /// Not the bench, which ends its programs once it is released: a connection that is being closed holds its console.
    private let reactor: Reactor
    private let endpoint: Endpoint
    private let token: Redacted<String>
    private let questions: HTTPClient
    private var stream: Connection?
    private var reader = EventAnswerReader()
    private var timer: TimerID?
    /// The figures received since the console was opened.
    private(set) var figures = 0
    /// Answers to its questions.
    private(set) var answers = 0
    /// Why it does not work; `nil` if it does.
    private(set) var failure: String?

    /// Creates a console that is closed.
    init(_ bench: Bench, port: UInt16, token: Redacted<String>) {
        reactor = bench.reactor
        self.token = token
        endpoint = Endpoint(address: .loopback(port: port), tls: bench.tls)
        questions = HTTPClient(reactor: reactor, endpoint: endpoint)
    }

    deinit { close() }

    /// Opens the stream; its questions are spread by `number`.
    func open(number: Int, of count: Int) throws(BenchError) {
        (figures, answers, failure) = (0, 0, nil)
        reader = EventAnswerReader()
        let spread = Self.questionMilliseconds * Int64(number) / Int64(max(1, count))
        ask(after: spread)
        do throws(TransportError) {
            stream = try reactor.connect(to: endpoint.address, tls: endpoint.tls, delegate: self)
        } catch { throw BenchError("console: \(error)") }
    }

    /// Closes it, as a browser that leaves the page.
    func close() {
        let open = stream
        stream = nil
        open?.abort(.responseComplete)
        questions.close()
        if let timer { reactor.cancel(timer) }
        timer = nil
    }

    private func ask(after milliseconds: Int64) {
        timer = reactor.schedule(at: Now.read().monotonic.advanced(milliseconds: milliseconds)) {
            [unowned self] _ in
            ask()
        }
    }

    /// Asks for health and status, and again after a time.
    private func ask() {
        ask(after: Self.questionMilliseconds)
        for path in ["health", "status"] {
            questions.send(call("\(OperatorRoute.prefix)/\(path)")) { [unowned self] result in
                switch result {
                case .success(let answer) where answer.status == 200: answers += 1
                case .success(let answer): failure = "\(path): HTTP \(answer.status)"
                case .failure(let error): if stream != nil { failure = "\(path): \(error)" }
                }
            }
        }
    }

    private func call(_ path: String) -> HTTPCall {
        var call = HTTPCall("GET", path)
        call.add("Authorization", "Bearer \(token.revealed)")
        return call
    }

    // MARK: ConnectionDelegate

    func connectionOpened(_ connection: Connection, now: Now) {
        call("\(OperatorRoute.prefix)/top/stream").append(
            host: "localhost", to: &connection.outbox.bytes)
        connection.outbox.endRecord()
        connection.setNeedsFlush()
    }

    func connection(_ connection: Connection, received bytes: RawSpan, now: Now) {
        reader.append(bytes)
        do throws(RequestFault) {
            while let part = try reader.next() {
                switch part {
                case .event: figures += 1
                case .whole(let answer): failure = "the stream: HTTP \(answer.status)"
                }
            }
        } catch { failure = "the stream: \(error)" }
    }

    func connection(_ connection: Connection, outboundIsCongested: Bool, now: Now) {}

    func connectionDeadline(_ connection: Connection, now: Now) {}

    func connectionClosed(_ connection: Connection, reason: CloseReason, now: Now) {
        if stream === connection { failure = "the stream has ended: \(reason.rawValue)" }
    }
}
