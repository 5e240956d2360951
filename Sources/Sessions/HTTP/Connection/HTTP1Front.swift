import Basics
import Wire

/// HTTP/1.1 on one connection: answers leave in the order of their requests, however long each takes (RFC 9112, 9.3.2).
final class HTTP1Front: HTTPFront {
    private struct Slot {
        var isHead: Bool
        var closes: Bool
        var response: HTTPResponse?
    }

    private var reader = RequestReader()
    /// Requests taken up whose answers have not left, in order.
    private var slots: [Slot] = []
    /// The number of the first of them.
    private var first: UInt32 = 0
    private(set) var ending: CloseReason?
    private(set) var isOver = false
    private var isTrusted = false
    private var refused: [HTTPStatus] = []
    /// How long the request that has begun may take; nil while none counts against the peer.
    private var pace: RequestPace?

    var deadline: Instant { pace?.deadline ?? .distantFuture }
    var isIdle: Bool { slots.isEmpty && pace == nil }
    var hasRoom: Bool { ending == nil && slots.count < Limits.HTTP.pipelinedRequests }
    var readsAlways: Bool { false }
    var hasMoreToWrite: Bool { slots.first?.response != nil }

    func receive(_ bytes: RawSpan, now: Now) {
        guard ending == nil else { return }
        reader.append(bytes)
    }

    func next(now: Now) -> HTTPExchange? {
        guard hasRoom else { return nil }
        do throws(RequestFault) {
            guard let request = try reader.next() else { return nil }
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

    func watch(isReading: Bool, now: Now) {
        guard isReading, reader.isInsideRequest else { return pace = nil }
        if pace == nil { pace = RequestPace(now: now.monotonic) }
        pace?.note(body: reader.bodyBytes, now: now.monotonic)
    }

    func answer(_ exchange: UInt32, _ response: HTTPResponse, now: Now) {
        let at = Int(exchange &- first)
        guard at < slots.count, slots[at].response == nil else { return }
        slots[at].response = response
    }

    func write(isCongested: Bool, now: Now, to out: inout Outbox) -> Int {
        var written = 0
        // Answers of many requests at once may be more than the transport holds: the rest leaves as the peer reads.
        while written < slots.count, !isOver, !isCongested,
            out.bytes.count < Limits.Connection.outboundLowBytes,
            let response = slots[written].response
        {
            // No request follows the last one here once the connection ends.
            isOver = slots[written].closes || ending != nil && written == slots.count - 1
            response.append(at: now.wall, closes: isOver, isHead: slots[written].isHead, to: &out.bytes)
            out.endRecord()
            written += 1
        }
        slots.removeFirst(written)
        first &+= UInt32(written)
        if ending != nil, slots.isEmpty { isOver = true }
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

    /// Answers the request that cannot be read, and ends.
    private func refuse(_ fault: RequestFault, _ reason: CloseReason) {
        assert(
            HTTPEndpoint.ErrorForm.text.commonAnswers.contains { $0.status == fault.status },
            "OpenAPI does not know \(fault.status)")
        slots.append(Slot(isHead: false, closes: true, response: .plain(fault)))
        refused.append(fault.status)
        end(reason)
    }
}
