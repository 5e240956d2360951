import Basics
import Wire

/// HTTP/1.1 on one connection: answers are sent in the order of their requests, however long each takes (RFC 9112, 9.3.2).
final class HTTP1Codec: HTTPCodec {
    private struct Slot {
        var isHead: Bool
        var closes: Bool
        var response: HTTPResponse?
        var stream: Stream?
    }

    /// A response whose body ends with the connection.
    private struct Stream {
        /// The head and the part of the body not written yet. The host limits it: it adds only answers while the peer does not read.
        var pending: [UInt8]
        var isEnded: Bool
    }

    /// Checks the head of a request whose body is longer than `Limits.OperatorAPI.unauthenticatedBodyBytes`, before more of it is
    /// read; `nil` reads every body.
    var admits: ((HTTPRequest) -> Bool)?

    private let refusals: HTTPRefusals
    private var reader = RequestReader()
    /// Requests accepted whose answers are not written yet, in order.
    private var slots: [Slot] = []
    /// The number of the request in the first slot.
    private var first: UInt32 = 0
    private(set) var ending: CloseReason?
    private(set) var isFinished = false
    private(set) var isTrusted = false
    private var refused: [HTTPStatus] = []
    /// The deadlines of the incomplete request; `nil` if there is none or reading is paused.
    private var pace: RequestPace?

    init(_ refusals: HTTPRefusals) { self.refusals = refusals }

    var deadline: Instant { pace?.deadline ?? .distantFuture }
    var isIdle: Bool { slots.isEmpty && pace == nil }
    var hasRoom: Bool { ending == nil && slots.count < Limits.HTTP.pipelinedRequests }
    /// While a stream lasts, bytes are read, and dropped, only to notice that the peer has left.
    var readsAlways: Bool { slots.contains { $0.stream != nil } }
    var hasMoreToWrite: Bool { slots.first?.response != nil || slots.first?.stream?.pending.isEmpty == false }

    func receive(_ bytes: RawSpan, now: Now) {
        guard ending == nil else { return }
        reader.append(bytes)
    }

    func next(now: Now) -> HTTPExchange? {
        guard hasRoom else { return nil }
        do throws(RequestFault) {
            guard let request = try reader.next() else {
                try checkHead()
                return nil
            }
            pace = nil
            let number = first &+ UInt32(slots.count)
            slots.append(Slot(isHead: request.method == .head, closes: !request.keepsAlive))
            if !request.keepsAlive { end(.responseComplete) }
            return HTTPExchange(number: number, request: request)
        } catch {
            refuse(error, error.status.isTooLarge ? .tooLarge : .protocolViolation)
            return nil
        }
    }

    /// Refuses a long body of a request that the host does not admit by its head.
    private func checkHead() throws(RequestFault) {
        guard let admits, !isTrusted, let head = reader.openHead,
            reader.bodyBytes ?? 0 > Limits.OperatorAPI.unauthenticatedBodyBytes
        else { return }
        guard admits(head) else {
            throw RequestFault(
                .contentTooLarge, "The body is too long for a request without valid credentials.")
        }
        isTrusted = true
    }

    func updateDeadlines(isReading: Bool, now: Now) {
        // Behind a stream nothing more is read.
        guard isReading, ending == nil, reader.isInsideRequest else { return pace = nil }
        if pace == nil { pace = RequestPace(now: now.monotonic) }
        pace?.record(body: reader.bodyBytes, now: now.monotonic)
    }

    func answer(_ exchange: UInt32, _ response: HTTPResponse, now: Now) {
        let at = Int(exchange &- first)
        guard at < slots.count, slots[at].response == nil, slots[at].stream == nil else { return }
        slots[at].response = response
    }

    /// Begins or continues a stream, after which no further request is read; `isLast` ends it and the connection.
    func stream(
        _ exchange: UInt32, _ contentType: StaticString, _ bytes: [UInt8], isLast: Bool, now: Now
    ) {
        let at = Int(exchange &- first)
        guard at < slots.count, slots[at].response == nil else { return }
        if slots[at].stream == nil {
            var head = ByteBuffer()
            HTTPResponse(.ok, contentType, []).appendStreamHead(at: now.machineWall, to: &head)
            slots[at].stream = Stream(pending: head.copied(), isEnded: false)
            end(.responseComplete)
        }
        slots[at].stream?.pending += bytes
        slots[at].stream?.isEnded = isLast
    }

    func write(isCongested: Bool, now: Now, to out: inout Outbox) -> Int {
        var written = 0
        // The answers of many pipelined requests may exceed the outbound buffer: the rest is written as the peer reads.
        while written < slots.count, !isFinished, !isCongested,
            out.bytes.count < Limits.Connection.outboundLowBytes
        {
            if let stream = slots[written].stream {
                out.bytes.append(stream.pending)
                out.endRecord()
                slots[written].stream?.pending = []
                guard stream.isEnded else { break }
                isFinished = true
                written += 1
                break
            }
            guard let response = slots[written].response else { break }
            // Once the connection is ending, no request follows the last one in the slots.
            isFinished = slots[written].closes || ending != nil && written == slots.count - 1
            response.append(
                at: now.machineWall, closes: isFinished, isHead: slots[written].isHead, to: &out.bytes)
            out.endRecord()
            written += 1
        }
        slots.removeFirst(written)
        first &+= UInt32(written)
        if ending != nil, slots.isEmpty { isFinished = true }
        if reader.expectsContinue, slots.isEmpty, ending == nil {
            reader.expectsContinue = false
            out.bytes.append(HTTPResponse.continuation)
            out.endRecord()
        }
        return written
    }

    func wake(now: Now) {
        guard let pace, pace.deadline <= now.monotonic else { return }
        let (fault, reason) = pace.verdict(now: now.monotonic)
        refuse(fault, reason)
    }

    func takeRefused() -> [HTTPStatus] {
        guard !refused.isEmpty else { return [] }
        defer { refused = [] }
        return refused
    }

    var unauthenticatedBytes: Int { isTrusted ? 0 : reader.bodyBytes ?? reader.heldBytes }

    func trust() { isTrusted = true }

    func end(_ reason: CloseReason) {
        if ending == nil { ending = reason }
    }

    /// Answers an unreadable request, and ends the connection.
    private func refuse(_ fault: RequestFault, _ reason: CloseReason) {
        let response = refusals.response(to: fault, of: reader.knownRequest)
        assert(
            refusals.settings.value.isDeclared(response, 0), "OpenAPI does not declare \(fault.status)")
        slots.append(Slot(isHead: false, closes: true, response: response))
        refused.append(fault.status)
        end(reason)
    }
}
