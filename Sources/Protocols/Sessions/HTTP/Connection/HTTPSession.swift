public import Basics
public import Delivery
public import Wire

/// One HTTP connection: the services for devices and app servers, or the operator's pages on the administrative port.
///
/// The wire format is the business of its `HTTPCodec`; everything above is the same for every HTTP version.
public struct HTTPSession: ~Copyable, ProtocolSession {
    let connection: ConnectionID
    var settings: SessionSettings { @inline(__always) get { refusals.settings.value } }
    /// Answers requests that reach no endpoint.
    let refusals: HTTPRefusals
    var endpoints: [HTTPEndpoint] { refusals.endpoints }
    /// The beginnings of the paths whose requests the host answers.
    let hostPrefixes: [String]
    /// The host names that requests may be for; `nil` for any.
    let acceptedHosts: AcceptedHosts?
    /// Where a request for `/` is sent to; `nil` if nothing is there.
    let start: String?
    let recent = RecentRequest()
    private var codec: any HTTPCodec
    /// Detects the preface of HTTP/2; `nil` once the version is known.
    private var preface: HTTP2Preface?
    private var pendingRequests = HTTPPendingRequests()
    private var nextRequestID: UInt32 = 1
    private var isCongested = false
    /// Whether any request has been answered.
    private var hasAnswered = false
    /// Why the connection ends after the next request; `nil` if it may stay.
    private var endAfterNext: CloseReason?
    /// The answers of this call.
    private var chosen: [HTTPResponseRecord] = []
    /// Whether requests or answers wait only because of the limit on bytes written in one call; the next `wake` continues.
    private var isPaused = false
    /// When a connection without any request ends.
    private var idleDeadline: Instant

    /// Creates a session on a new connection; `isAdministrative` restricts it to the operator's pages and to paths with
    /// `hostPrefixes`, whose requests the host answers. Requests for other hosts than `acceptedHosts` are refused, and `/` leads to
    /// `start`.
    public init(
        connection: ConnectionID, settings: SharedSettings, isAdministrative: Bool = false,
        hostPrefixes: [String] = [], acceptedHosts: AcceptedHosts? = nil, start: String? = nil, now: Now
    ) {
        self.connection = connection
        refusals = HTTPRefusals(
            endpoints: isAdministrative ? HTTPEndpoint.administration : HTTPEndpoint.services,
            settings: settings)
        codec = HTTP1Codec(refusals)
        self.hostPrefixes = hostPrefixes
        self.acceptedHosts = acceptedHosts
        self.start = start
        // The operator's pages are requested one by one, so HTTP/2 is not needed.
        preface = isAdministrative ? nil : HTTP2Preface()
        idleDeadline = now.monotonic.advanced(seconds: Limits.HTTP.requestDeadlineSeconds)
    }

    public var deadline: Instant {
        if isPaused { return .distantPast }
        return codec.isIdle ? idleDeadline : min(pendingRequests.deadline, codec.deadline)
    }

    public mutating func receive(_ bytes: RawSpan, now: Now, io: inout SessionIO) {
        selectCodec(bytes, now)
        if preface == nil { codec.receive(bytes, now: now) }
        advance(now, &io)
    }

    /// Detects the HTTP version of the peer.
    private mutating func selectCodec(_ bytes: RawSpan, _ now: Now) {
        guard case .isHTTP2(let isHTTP2, let earlier)? = preface?.look(at: bytes) else { return }
        preface = nil
        if isHTTP2 { codec = HTTP2Codec(refusals, now: now) }
        if earlier > 0 { codec.receive(Array(HTTP2Preface.bytes[..<earlier]).raw, now: now) }
    }

    public mutating func perform(_ command: SessionCommand, now: Now, io: inout SessionIO) {
        switch command {
        case .connection(.close(let reason)): codec.end(reason)
        case .connection(.drain): codec.end(.connectionDraining)
        case .connection(.endWhenIdle(_, let reason)): endWhenIdle(reason)
        // Handled by the host, which counts the requests of unauthenticated peers.
        case .connection(.refundQuota): break
        case .connection(.retryAfter(let requestID, let seconds)):
            pendingRequests.delayRetry(RecipientRequestID.parts(requestID)?.request ?? requestID, seconds)
        case .submission(let requestID, let reply):
            if let (request, index, tokenReply) = tokenReply(in: reply, requestID) {
                recordReply(tokenReply, request, index, now, &io)
            } else if let response = response(to: reply, of: requestID) {
                answer(requestID, response, now)
            }
        case .reply(let requestID, let reply):
            if let (request, index, tokenReply) = tokenReply(in: reply, requestID) {
                recordReply(tokenReply, request, index, now, &io)
            } else if let response = response(to: reply, of: requestID, now) {
                answer(requestID, response, now)
            }
        case .appServer, .device: io.rejectMisdirected(command)
        }
        advance(now, &io)
    }

    /// Ends the connection after the open requests. If it has had none, waits for the first: a newly accepted client gets its
    /// answer.
    private mutating func endWhenIdle(_ reason: CloseReason) {
        if !pendingRequests.isEmpty || codec.isIdle && hasAnswered {
            codec.end(reason)
        } else {
            endAfterNext = reason
        }
    }

    /// Answers a request that was passed to the host in `SessionIO.hostRequests`.
    public mutating func answer(
        requestID: UInt32, status: HTTPStatus, contentType: StaticString, body: [UInt8], now: Now,
        io: inout SessionIO
    ) {
        answer(requestID, HTTPResponse(status, contentType, body), now)
        advance(now, &io)
    }

    /// Answers a request that was passed to the host with a whole response.
    public mutating func answer(
        requestID: UInt32, _ response: HTTPResponse, now: Now, io: inout SessionIO
    ) {
        answer(requestID, response, now)
        advance(now, &io)
    }

    /// Begins or continues a response whose body ends with the connection, or ends it with the last bytes.
    ///
    /// Only for requests that were passed to the host on the administrative port, which has HTTP/1.1 alone.
    public mutating func stream(
        requestID: UInt32, _ contentType: StaticString, _ bytes: [UInt8], isLast: Bool, now: Now,
        io: inout SessionIO
    ) {
        guard let open = pendingRequests.open(requestID), let codec = codec as? HTTP1Codec else { return }
        codec.stream(open.exchange, contentType, bytes, isLast: isLast, now: now)
        if isLast {
            _ = pendingRequests.remove(requestID)
            chosen.append(HTTPResponseRecord(endpoint: 0, status: .ok, start: open.start))
        }
        advance(now, &io)
    }

    /// Sets the check of requests with long bodies before these are read; see `HTTP1Codec.admits`.
    public mutating func checkHeads(_ admits: @escaping (HTTPRequest) -> Bool) {
        (codec as? HTTP1Codec)?.admits = admits
    }

    public mutating func wake(now: Now, io: inout SessionIO) {
        if pendingRequests.deadline <= now.monotonic {
            for open in pendingRequests.removeAll() {
                send(
                    timeoutResponse(open.question), to: open.exchange, open.endpointInfo, since: open.start,
                    now)
            }
            codec.end(.internalError)
        } else if !codec.isIdle {
            codec.wake(now: now)
        } else if idleDeadline <= now.monotonic {
            codec.end(.idle)
        }
        advance(now, &io)
    }

    public mutating func outboundChanged(isCongested: Bool, now: Now, io: inout SessionIO) {
        self.isCongested = isCongested
        advance(now, &io)
    }

    public mutating func ended(_ reason: CloseReason, now: Now, io: inout SessionIO) {}

    /// Returns the kind of an open request.
    func question(of requestID: UInt32) -> HTTPPendingRequests.Question? {
        pendingRequests.question(of: requestID)
    }

    /// Answers a request; a second or late answer is dropped.
    private mutating func answer(_ requestID: UInt32, _ response: HTTPResponse, _ now: Now) {
        if let open = pendingRequests.remove(requestID) {
            send(response, to: open.exchange, open.endpointInfo, since: open.start, now)
        }
    }

    /// Buffered bytes of incomplete requests; 0 once a request was authenticated.
    public var unauthenticatedBytes: Int { codec.unauthenticatedBytes }

    /// Whether a request on this connection was authenticated.
    public var isTrusted: Bool { codec.isTrusted }

    /// Marks the connection as authenticated by a request of a sender.
    func markAuthenticated() { codec.trust() }

    /// Marks the connection as authenticated by the host.
    public func trustPeer() { markAuthenticated() }

    /// Sends an answer. It must be declared in the description of its endpoint.
    private mutating func send(
        _ response: HTTPResponse, to exchange: UInt32, _ endpointInfo: HTTPPendingRequests.EndpointInfo,
        since start: Instant, _ now: Now
    ) {
        assert(
            endpointInfo.position == 0 || endpointInfo.isPreflight
                || settings.isDeclared(response, endpointInfo.position),
            "OpenAPI does not declare \(response.status) with \(response.contentType) here")
        chosen.append(
            HTTPResponseRecord(endpoint: endpointInfo.position, status: response.status, start: start))
        var response = response
        response.crossOrigin = endpointInfo.crossOrigin
        if let seconds = endpointInfo.retrySeconds { response.extra = ("Retry-After", "\(seconds)") }
        codec.answer(exchange, response, now: now)
    }

    /// Records the reply about one of several tokens, and answers the request if it was the last.
    private mutating func recordReply(
        _ tokenReply: HTTPTokenReply, _ request: UInt32, _ index: Int, _ now: Now, _ io: inout SessionIO
    ) {
        switch pendingRequests.record(tokenReply, request: request, index: index) {
        case .multiToken(let multiTokenRequest): answer(request, multiTokenRequest.response, now)
        case .groupMembers(let check):
            do throws(GroupFault) {
                switch try submitChecked(check, Requester(connection: connection, requestID: request), &io) {
                case .answer(let response): answer(request, response, now)
                case .wait(let question): pendingRequests.change(request, to: question)
                }
            } catch {
                let status: HTTPStatus = error == GroupFault(.unavailable) ? .unavailable : .badRequest
                answer(request, .group(error, status), now)
            }
        default: break
        }
    }

    /// Whether another request may be accepted.
    private var hasRoom: Bool {
        !isCongested && codec.hasRoom && pendingRequests.recipients < Limits.HTTP.recipientsPerConnection
    }

    /// Whether bytes are read from the peer.
    private var isReadingWanted: Bool { !isCongested && (codec.readsAlways || hasRoom) }

    /// Accepts requests, writes answers and updates deadlines until nothing more can be done.
    private mutating func advance(_ now: Now, _ io: inout SessionIO) {
        defer { recordResponses(now, &io) }
        guard io.close == nil else { return }
        isPaused = false
        var shouldContinue = true
        while shouldContinue {
            while hasRoom, let exchange = codec.next(now: now) { accept(exchange, now, &io) }
            codec.updateDeadlines(isReading: isReadingWanted, now: now)
            let wasFull = !hasRoom
            let answered = codec.write(isCongested: isCongested, now: now, to: &io.out)
            io.counts.requests += answered
            if codec.isFinished {
                io.close = codec.ending ?? .responseComplete
                return
            }
            if answered > 0 {
                hasAnswered = true
                idleDeadline = now.monotonic.advanced(seconds: Limits.HTTP.requestIdleSeconds)
            }
            shouldContinue = wasFull && answered > 0
            // Answers may be longer than requests, so the bytes written in one call are limited.
            if shouldContinue || codec.hasMoreToWrite,
                io.out.bytes.count >= Limits.Connection.outboundLowBytes
            {
                shouldContinue = false
                isPaused = !isCongested
            }
        }
        io.isReading = isReadingWanted && !isPaused
    }

    /// Reports the answers of this call; those with status 401 are also reported as refusals.
    private mutating func recordResponses(_ now: Now, _ io: inout SessionIO) {
        for status in codec.takeRefused() {
            chosen.append(HTTPResponseRecord(endpoint: 0, status: status, start: now.monotonic))
        }
        guard !chosen.isEmpty else { return }
        for note in chosen where note.status == .unauthorized { io.refuse(.unauthorized) }
        io.responses += chosen
        chosen.removeAll(keepingCapacity: true)
    }

    private mutating func accept(_ exchange: HTTPExchange, _ now: Now, _ io: inout SessionIO) {
        if let endAfterNext { codec.end(endAfterNext) }
        let requestID = nextRequestID
        nextRequestID = nextRequestID == RecipientRequestID.highestRequest ? 1 : nextRequestID + 1
        var endpointInfo = HTTPPendingRequests.EndpointInfo()
        switch outcome(
            of: exchange.request, Requester(connection: connection, requestID: requestID),
            endpointInfo: &endpointInfo, now,
            &io)
        {
        case .answer(let response):
            send(response, to: exchange.number, endpointInfo, since: now.monotonic, now)
        case .wait(let question):
            var limit = now.monotonic.advanced(seconds: Limits.HTTP.answerDeadlineSeconds)
            // As on the control socket, each command has its own deadlines, and a backup takes as long as it takes.
            if case .operation = question { limit = .distantFuture }
            pendingRequests.add(
                HTTPPendingRequests.Open(
                    exchange: exchange.number, question: question, endpointInfo: endpointInfo,
                    start: now.monotonic, deadline: limit),
                requestID: requestID)
        }
    }
}
