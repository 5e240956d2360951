import Basics
import Testing
import Wire

/// Requests of the operator API, as a connection reads them.
enum APIRequests {
    /// Returns the request of a call.
    static func request(_ call: HTTPCall, host: String = "localhost:9100") throws -> HTTPRequest {
        var bytes = ByteBuffer()
        call.append(host: host, to: &bytes)
        var reader = RequestReader()
        reader.append(bytes.bytes)
        return try #require(try reader.next())
    }

    /// Returns a request with headers and a JSON body.
    static func request(
        _ method: String, _ path: String, _ headers: [String: String] = [:], body: String = ""
    ) throws -> HTTPRequest {
        var call = HTTPCall(method, path)
        for (name, value) in headers { call.add(name, value) }
        if !body.isEmpty, headers["Content-Type"] == nil { call.add("Content-Type", "application/json") }
        call.body = Array(body.utf8)
        return try request(call)
    }
}
