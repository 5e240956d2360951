public import Basics
public import Delivery
public import Wire

/// The HTTP side of one connection: device services, or the operator's pages on the administrative port.
///
/// How requests and answers lie on the wire is its front's business; all above that is the same for every version.
public struct HTTPSession: ~Copyable, ProtocolSession {
    let connection: ConnectionID
    private let shared: SharedSettings
    var settings: SessionSettings { @inline(__always) get { shared.value } }
    let endpoints: [HTTPEndpoint]
    private var front: any HTTPFront = HTTP1Front()
    /// Looks for the preface of HTTP/2; nil once the version is known.
    private var preface: HTTP2Preface?
    private var answers = HTTPAnswers()
    private var nextRequestID: UInt32 = 1
    private var isCongested = false
    /// Whether a request has been answered.
    private var hasAnswered = false
    /// Why the connection ends after the next request; nil while it may stay.
    private var endAfterNext: CloseReason?
    /// Answers chosen in this call.
    private var chosen: [HTTPResponseNote] = []
    /// Whether requests or answers wait only because much has been written in one call; the next wake goes on.
    private var isPaused = false
    /// When a connection without any request ends.
    private var idleDeadline: Instant

    /// A session on a new connection; `isAdministrative` gives it the operator's pages and nothing else.
    public init(
        connection: ConnectionID, settings: SharedSettings, isAdministrative: Bool = false, now: Now
    ) {
        self.connection = connection
        shared = settings
        endpoints = isAdministrative ? HTTPEndpoint.administration : HTTPEndpoint.services
        // The operator's pages are asked for one by one, and without TLS.
        preface = isAdministrative ? nil : HTTP2Preface()
        idleDeadline = now.monotonic.advanced(seconds: Limits.HTTP.requestDeadlineSeconds)
    }

    public var deadline: Instant {
        if isPaused { return .distantPast }
        return front.isIdle ? idleDeadline : min(answers.deadline, front.deadline)
    }

    public mutating func receive(_ bytes: RawSpan, now: Now, io: inout SessionIO) {
        chooseFront(bytes, now)
        if preface == nil { front.receive(bytes, now: now) }
        advance(now, &io)
    }

    /// Finds out which version the peer speaks.
    private mutating func chooseFront(_ bytes: RawSpan, _ now: Now) {
        guard case .isHTTP2(let isHTTP2, let earlier)? = preface?.look(at: bytes) else { return }
        preface = nil
        if isHTTP2 { front = HTTP2Front(now: now) }
        if earlier > 0 { front.receive(Array(HTTP2Preface.bytes[..<earlier]).raw, now: now) }
    }

    public mutating func perform(_ command: SessionCommand, now: Now, io: inout SessionIO) {
        switch command {
        case .connection(.close(let reason)): front.end(reason)
        case .connection(.drain): front.end(.connectionDraining)
        case .connection(.endWhenIdle(_, let reason)): endWhenIdle(reason)
        // For the host, which counts the places.
        case .connection(.refundQuota): break
        case .submission(let requestID, let reply):
            if let (request, index, word) = word(in: reply, requestID) {
                note(word, request, index, now, &io)
            } else if let response = response(to: reply, of: requestID) {
                answer(requestID, response, now)
            }
        case .reply(let requestID, let reply):
            if let (request, index, word) = word(in: reply, requestID) {
                note(word, request, index, now, &io)
            } else if let response = response(to: reply, of: requestID, now) {
                answer(requestID, response, now)
            }
        case .appServer, .device: io.misdirected(command)
        }
        advance(now, &io)
    }

    /// Ends the connection after what is asked now, or else after its first request: a client that was just let in gets its
    /// answer.
    private mutating func endWhenIdle(_ reason: CloseReason) {
        if !answers.isEmpty || front.isIdle && hasAnswered {
            front.end(reason)
        } else {
            endAfterNext = reason
        }
    }

    /// Answers a request that the host was asked, from `SessionIO.hostRequests`.
    public mutating func answer(
        requestID: UInt32, status: HTTPStatus, contentType: StaticString, body: [UInt8], now: Now,
        io: inout SessionIO
    ) {
        answer(requestID, HTTPResponse(status, contentType, body), now)
        advance(now, &io)
    }

    public mutating func wake(now: Now, io: inout SessionIO) {
        if answers.deadline <= now.monotonic {
            for open in answers.takeAll() { send(late(open.question), to: open.exchange, open.asked, now) }
            front.end(.internalError)
        } else if !front.isIdle {
            front.wake(now: now)
        } else if idleDeadline <= now.monotonic {
            front.end(.idle)
        }
        advance(now, &io)
    }

    public mutating func outboundChanged(isCongested: Bool, now: Now, io: inout SessionIO) {
        self.isCongested = isCongested
        advance(now, &io)
    }

    public mutating func ended(_ reason: CloseReason, now: Now, io: inout SessionIO) {}

    /// What was asked under a request ID and is not answered yet.
    func question(of requestID: UInt32) -> HTTPAnswers.Question? { answers.question(of: requestID) }

    /// Answers a request; a second answer, or one that came too late, is dropped.
    private mutating func answer(_ requestID: UInt32, _ response: HTTPResponse, _ now: Now) {
        if let open = answers.take(requestID) { send(response, to: open.exchange, open.asked, now) }
    }

    /// Bytes held of requests that are not whole, on a connection that has not shown which sender asks.
    public var unauthenticatedBytes: Int { front.unauthenticatedBytes }

    /// A request has shown which sender asks.
    func noteSender() { front.trust() }

    /// Hands an answer to the front. One that the description of the interface does not know is a fault of ours.
    private mutating func send(
        _ response: HTTPResponse, to exchange: UInt32, _ asked: HTTPAnswers.Asked, _ now: Now
    ) {
        assert(
            asked.answers.isEmpty || HTTPEndpoint.declares(response, asked.answers),
            "OpenAPI does not know \(response.status) with \(response.contentType) here")
        chosen.append(HTTPResponseNote(endpoint: asked.position, status: response.status))
        front.answer(exchange, response, now: now)
    }

    /// Takes in the word on one of several tokens, and answers its request if it was the last.
    private mutating func note(
        _ word: HTTPWord, _ request: UInt32, _ index: Int, _ now: Now, _ io: inout SessionIO
    ) {
        switch answers.note(word, request: request, index: index) {
        case .gathered(let gathering): answer(request, gathering.response, now)
        case .groupMembers(let check):
            do throws(GroupFault) {
                switch try checked(check, Requester(connection: connection, requestID: request), &io) {
                case .answer(let response): answer(request, response, now)
                case .wait(let question): answers.change(request, to: question)
                }
            } catch {
                let status: HTTPStatus = error == GroupFault(.unavailable) ? .unavailable : .badRequest
                answer(request, .group(error, status), now)
            }
        default: break
        }
    }

    /// Whether another request may be taken up.
    private var hasRoom: Bool {
        !isCongested && front.hasRoom && answers.recipients < Limits.HTTP.recipientsPerConnection
    }

    /// Whether bytes are taken from the peer.
    private var isReadingWanted: Bool { !isCongested && (front.readsAlways || hasRoom) }

    /// Takes up requests, writes answers, and sets the deadlines anew, as far as each can go.
    private mutating func advance(_ now: Now, _ io: inout SessionIO) {
        defer { noteResponses(&io) }
        guard io.close == nil else { return }
        isPaused = false
        var goesOn = true
        while goesOn {
            while hasRoom, let exchange = front.next(now: now) { take(exchange, now, &io) }
            front.watch(isReading: isReadingWanted, now: now)
            let wasFull = !hasRoom
            let answered = front.write(isCongested: isCongested, now: now, to: &io.out)
            io.counts.requests += answered
            if front.isOver {
                io.close = front.ending ?? .responseComplete
                return
            }
            if answered > 0 {
                hasAnswered = true
                idleDeadline = now.monotonic.advanced(seconds: Limits.HTTP.requestIdleSeconds)
            }
            goesOn = wasFull && answered > 0
            // Answers may be longer than requests: what one call writes is bounded.
            if goesOn || front.hasMoreToWrite, io.out.bytes.count >= Limits.Connection.outboundLowBytes {
                goesOn = false
                isPaused = !isCongested
            }
        }
        io.isReading = isReadingWanted && !isPaused
    }

    /// Hands on which answers were chosen; those that say that nobody was recognized are refusals as well.
    private mutating func noteResponses(_ io: inout SessionIO) {
        for status in front.takeRefused() { chosen.append(HTTPResponseNote(endpoint: 0, status: status)) }
        guard !chosen.isEmpty else { return }
        for note in chosen where note.status == .unauthorized { io.refuse(.unauthorized) }
        io.responses += chosen
        chosen.removeAll(keepingCapacity: true)
    }

    private mutating func take(_ exchange: HTTPExchange, _ now: Now, _ io: inout SessionIO) {
        if let endAfterNext { front.end(endAfterNext) }
        let requestID = nextRequestID
        nextRequestID = nextRequestID == RecipientRequestID.highestRequest ? 1 : nextRequestID + 1
        var asked = HTTPAnswers.Asked()
        switch outcome(
            of: exchange.request, Requester(connection: connection, requestID: requestID), asked: &asked, now,
            &io)
        {
        case .answer(let response): send(response, to: exchange.number, asked, now)
        case .wait(let question):
            let limit = now.monotonic.advanced(seconds: Limits.HTTP.answerDeadlineSeconds)
            answers.add(
                HTTPAnswers.Open(
                    exchange: exchange.number, question: question, asked: asked, deadline: limit),
                requestID: requestID)
        }
    }
}
