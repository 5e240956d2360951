public import Basics
import CNGHTTP2

/// Answers on their way to the peer.
extension HTTP2Connection {
    /// Answers the request of a stream; one that is answered or gone already is passed over.
    public func answer(_ stream: UInt32, _ response: HTTPResponse, at now: UnixMilliseconds) {
        send(Int32(bitPattern: stream), response, at: now)
    }

    /// Answers a request that is not whole, and takes no more of it.
    public func refuse(_ stream: UInt32, _ fault: RequestFault, at now: UnixMilliseconds) {
        refuse(Int32(bitPattern: stream), fault, at: now)
    }

    func refuse(_ stream: Int32, _ fault: RequestFault, at now: UnixMilliseconds) {
        letGo(of: stream)
        tally.refused.append(fault.status)
        send(stream, .plain(fault), at: now)
    }

    private func send(_ stream: Int32, _ response: HTTPResponse, at now: UnixMilliseconds) {
        guard let old = streams[stream], old.answer == nil else { return }
        let body = old.isHead ? [] : response.body
        streams[stream]?.answer = body
        unwrittenBytes += body.count
        var fields = HTTP2Fields()
        fields.add(":status") { $0.append(decimal: response.status.rawValue) }
        response.headers(at: now) { fields.add($0, $1) }
        var source = unsafe nghttp2_data_provider()
        unsafe source.read_callback = { _, stream, room, count, flags, _, user in
            guard let connection = unsafe HTTP2Connection.of(user), let room = unsafe room else {
                return Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue)
            }
            let space = unsafe UnsafeMutableRawBufferPointer(start: room, count: count)
            let (filled, isLast) = unsafe connection.fill(space, from: stream)
            if isLast { unsafe flags?.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
            return filled
        }
        unsafe fields.withValues { values, count in
            if body.isEmpty {
                unsafe nghttp2_submit_response(session, stream, values, count, nil)
            } else {
                unsafe nghttp2_submit_response(session, stream, values, count, &source)
            }
        }
    }

    /// Tells a peer that waits for it to send its body (RFC 9110, 10.1.1).
    func invite(_ stream: Int32) {
        var fields = HTTP2Fields()
        fields.add(":status") { $0.append("100") }
        unsafe fields.withValues { values, count in
            unsafe nghttp2_submit_headers(
                session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, nil, values, count, nil)
        }
    }

    /// Copies the next bytes of an answer.
    private func fill(
        _ space: UnsafeMutableRawBufferPointer, from stream: Int32
    ) -> (count: Int, isLast: Bool) {
        guard let old = streams[stream], let answer = old.answer else { return (0, true) }
        let count = min(space.count, old.unwritten)
        unsafe space.copyBytes(from: answer[old.written..<old.written + count])
        streams[stream]?.written += count
        unwrittenBytes -= count
        writtenBytes += count
        return (count, count == old.unwritten)
    }

    /// A frame of ours has been written.
    func frameSent(_ frame: nghttp2_frame_hd) {
        let isLast = frame.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
        guard isLast, let stream = streams[frame.stream_id] else { return }
        tally.answers += 1
        streams[frame.stream_id]?.isAnswered = true
        // A client that is answered early need not send the rest (RFC 9113, 8.1).
        if !stream.isEnded { reset(frame.stream_id, NGHTTP2_NO_ERROR) }
    }

    /// nghttp2 has told the peer by itself why the connection cannot go on.
    func goodbyeSent(_ code: UInt32) {
        guard failure == nil, code != NGHTTP2_NO_ERROR.rawValue else { return }
        failure = code == NGHTTP2_ENHANCE_YOUR_CALM.rawValue ? .flood : .protocolError
    }
}

/// A header list in one run of bytes.
private struct HTTP2Fields: ~Copyable {
    private var bytes = ByteBuffer()
    private var ends: [(name: Int, value: Int)] = []

    mutating func add(_ name: StaticString, _ value: (inout ByteBuffer) -> Void) {
        // Names are lower case in HTTP/2 (RFC 9113, 8.2.1).
        let start = bytes.count
        bytes.append(name)
        for at in start..<bytes.count { bytes.set(ASCII.lowered(bytes.bytes.byte(at: at)), at: at) }
        let middle = bytes.count
        value(&bytes)
        ends.append((middle, bytes.count))
    }

    /// Gives the list to a function that copies it.
    func withValues(_ body: (UnsafePointer<nghttp2_nv>?, Int) -> Void) {
        unsafe bytes.bytes.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress else { return }
            let first = unsafe UnsafeMutablePointer(mutating: start.assumingMemoryBound(to: UInt8.self))
            var list: [nghttp2_nv] = unsafe []
            var at = 0
            for end in ends {
                unsafe list.append(
                    nghttp2_nv(
                        name: first + at, value: first + end.name, namelen: end.name - at,
                        valuelen: end.value - end.name, flags: UInt8(NGHTTP2_NV_FLAG_NONE.rawValue)))
                at = end.value
            }
            unsafe body(list, list.count)
        }
    }
}
