package import Basics
package import Delivery
package import Wire

/// The HTTP side of one connection: device services, or the operator's pages on the administrative port.
///
/// Answers leave in the order of their requests, however long each takes (RFC 9112, 9.3.2).
package struct HTTPSession: ~Copyable, ProtocolSession {
    let connection: ConnectionID
    let settings: SessionSettings
    private let endpoints: [HTTPEndpoint]
    private var reader = RequestReader()
    private var answers = HTTPAnswers()
    private var nextTicket: UInt32 = 1
    /// Set once no further request is read; the connection ends with the last answer, for this reason.
    private var ending: CloseReason?
    private var isCongested = false
    /// Whether requests wait only because much has been written in one call; the next wake goes on.
    private var isPaused = false
    /// When the request that has begun must be whole.
    private var requestDeadline: Instant?
    /// When a connection without any request ends.
    private var idleDeadline: Instant

    /// A session on a new connection; `isAdministrative` gives it the operator's pages and nothing else.
    package init(
        connection: ConnectionID, settings: SessionSettings, isAdministrative: Bool = false, now: Now
    ) {
        self.connection = connection
        self.settings = settings
        endpoints = isAdministrative ? HTTPEndpoint.administration : HTTPEndpoint.services
        idleDeadline = now.monotonic.advanced(seconds: Limits.requestDeadlineSeconds)
    }

    package var deadline: Instant {
        if isPaused { return .distantPast }
        if answers.count > 0 { return min(answers.deadline, requestDeadline ?? .distantFuture) }
        return requestDeadline ?? idleDeadline
    }

    package mutating func receive(_ bytes: RawSpan, now: Now, io: inout SessionIO) {
        guard ending == nil else { return }
        reader.append(bytes)
        advance(now, &io)
    }

    package mutating func perform(_ command: SessionCommand, now: Now, io: inout SessionIO) {
        switch command {
        case .close(let reason): end(reason)
        case .drain: end(.connectionDraining)
        default:
            guard let (ticket, response) = answer(to: command, now) else { return }
            answers.answer(ticket, response)
        }
        advance(now, &io)
    }

    /// Answers a request that the host was asked, from `SessionIO.hostRequests`.
    package mutating func answer(
        ticket: UInt32, status: HTTPStatus, contentType: StaticString, body: [UInt8], now: Now,
        io: inout SessionIO
    ) {
        answers.answer(ticket, HTTPResponse(status, contentType, body))
        advance(now, &io)
    }

    package mutating func wake(now: Now, io: inout SessionIO) {
        if answers.deadline <= now.monotonic {
            answers.answerAll(.plain(RequestFault(.unavailable, "The server did not answer in time.")))
            end(.internalError)
        } else if let limit = requestDeadline, limit <= now.monotonic {
            refuse(RequestFault(.requestTimeout, "The request took too long."), .requestDeadline)
        } else if answers.count == 0, requestDeadline == nil, idleDeadline <= now.monotonic {
            end(.idle)
        }
        advance(now, &io)
    }

    package mutating func outboundChanged(isCongested: Bool, now: Now, io: inout SessionIO) {
        self.isCongested = isCongested
        advance(now, &io)
    }

    package mutating func ended(_ reason: CloseReason, now: Now, io: inout SessionIO) {}

    /// What was asked under a ticket and is not answered yet.
    func question(of ticket: UInt32) -> HTTPAnswers.Question? { answers.question(of: ticket) }

    /// Whether another request may be taken up.
    private var hasRoom: Bool {
        ending == nil && !isCongested && answers.count < Limits.pipelinedRequests
    }

    /// Stops reading; the first reason stands.
    private mutating func end(_ reason: CloseReason) {
        if ending == nil { ending = reason }
    }

    /// Answers the request that cannot be read, and ends.
    private mutating func refuse(_ fault: RequestFault, _ reason: CloseReason) {
        answers.add(.plain(fault), isHead: false, closes: true)
        end(reason)
    }

    /// Takes up requests, writes answers, and sets the deadlines anew, as far as each can go.
    private mutating func advance(_ now: Now, _ io: inout SessionIO) {
        guard io.close == nil else { return }
        isPaused = false
        var goesOn = true
        while goesOn {
            takeRequests(now, &io)
            let before = answers.count
            let closes = answers.flush(at: now.wall, isEnding: ending != nil, to: &io.out)
            io.counts.requests += before - answers.count
            if closes || ending != nil && answers.count == 0 {
                io.close = ending ?? .responseComplete
                return
            }
            if answers.count < before {
                idleDeadline = now.monotonic.advanced(seconds: Limits.requestIdleSeconds)
            }
            goesOn = before == Limits.pipelinedRequests && answers.count < before
            // Answers may be longer than requests: what one call writes is bounded.
            if goesOn, io.out.bytes.count > Limits.outboundLowBytes {
                goesOn = false
                isPaused = !isCongested
            }
        }
        if reader.expectsContinue, answers.count == 0, ending == nil {
            reader.expectsContinue = false
            io.out.bytes.append(HTTPResponse.continuation)
            io.out.endRecord()
        }
        io.isReading = hasRoom && !isPaused
    }

    private mutating func takeRequests(_ now: Now, _ io: inout SessionIO) {
        while hasRoom {
            do throws(RequestFault) {
                guard let request = try reader.next() else { break }
                requestDeadline = nil
                take(request, now, &io)
            } catch {
                refuse(error, error.status.isTooLarge ? .tooLarge : .protocolViolation)
            }
        }
        if !hasRoom || !reader.isInsideRequest {
            requestDeadline = nil
        } else if requestDeadline == nil {
            requestDeadline = now.monotonic.advanced(seconds: Limits.requestDeadlineSeconds)
        }
    }

    /// What a request leads to.
    enum Outcome {
        case answer(HTTPResponse)
        case wait(HTTPAnswers.Question)
    }

    private mutating func take(_ request: HTTPRequest, _ now: Now, _ io: inout SessionIO) {
        let ticket = nextTicket
        nextTicket = nextTicket == .max ? 1 : nextTicket + 1
        let isHead = request.method == .head
        let closes = !request.keepsAlive
        if closes { end(.responseComplete) }
        switch outcome(of: request, ticket, now, &io) {
        case .answer(let response): answers.add(response, isHead: isHead, closes: closes)
        case .wait(let question):
            let limit = now.monotonic.advanced(seconds: Limits.answerDeadlineSeconds)
            answers.add(question, ticket: ticket, isHead: isHead, closes: closes, deadline: limit)
        }
    }

    private func outcome(
        of request: HTTPRequest, _ ticket: UInt32, _ now: Now, _ io: inout SessionIO
    ) -> Outcome {
        guard let (endpoint, captured) = endpoint(of: request) else {
            return .answer(.plain(RequestFault(.notFound, "There is nothing at this path.")))
        }
        do {
            try checkForm(request, endpoint)
            let origin = Origin(connection: connection, ticket: ticket)
            switch endpoint.action {
            case .checkIn: return try checkIn(request, origin, &io)
            case .register: return register(request, origin, &io)
            case .createInstallation: return try createInstallation(request, project: captured[0])
            case .page(let page):
                io.hostRequests.append(HostRequest(ticket: ticket, page: page))
                return .wait(.page)
            }
        } catch {
            var response: HTTPResponse = endpoint.errors == .json ? .rpc(error) : .plain(error)
            if error.status == .methodNotAllowed { response.extra = ("Allow", endpoint.allow) }
            if error.status == .unsupportedMediaType { response.extra = ("Accept-Encoding", "identity") }
            return .answer(response)
        }
    }

    private func endpoint(of request: HTTPRequest) -> (HTTPEndpoint, [[UInt8]])? {
        for endpoint in endpoints {
            if let captured = endpoint.match(request.path) { return (endpoint, captured) }
        }
        return nil
    }

    /// Checks what is the same for all endpoints: method, length, coding of the body.
    private func checkForm(_ request: HTTPRequest, _ endpoint: HTTPEndpoint) throws(RequestFault) {
        if request.method == .other { throw RequestFault(.notImplemented, "The method is not known.") }
        guard request.method == endpoint.method || request.method == .head && endpoint.method == .get else {
            throw RequestFault(.methodNotAllowed, "The path does not take this method.")
        }
        guard endpoint.method == .post else { return }
        guard request.header("content-length") != nil || request.header("transfer-encoding") != nil else {
            throw RequestFault(.lengthRequired, "The request has no body.")
        }
        guard let coding = request.header("content-encoding"), !coding.isEmpty,
            !ASCII.equals(coding.raw, ignoringCase: "identity")
        else { return }
        if ASCII.equals(coding.raw, ignoringCase: "gzip") {
            throw RequestFault(.unsupportedMediaType, "Content-Encoding gzip is not taken, only identity.")
        }
        throw RequestFault(.unsupportedMediaType, "This Content-Encoding is not taken, only identity.")
    }
}
