import Foundation

/// A minimal HTTP client: one request to a port, of loopback unless an address is given, with the whole response as text.
enum PlainHTTP {
    private static func connects(_ descriptor: Int32, _ host: String, port: UInt16) -> Bool {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr(host)
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        } == 0
    }

    /// Returns whether a port accepts connections.
    static func canConnect(_ host: String = "127.0.0.1", port: UInt16) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        return connects(descriptor, host, port: port)
    }

    /// Returns a descriptor that is connected to a port.
    static func connected(_ host: String = "127.0.0.1", port: UInt16) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard connects(descriptor, host, port: port) else {
            close(descriptor)
            throw HarnessFailure("cannot connect to port \(port) of \(host)")
        }
        return descriptor
    }

    /// Sends a GET request and returns the response, read until the server closes.
    static func get(_ path: String, port: UInt16) throws -> String { try ask("GET", path, port: port) }

    /// Sends a request and returns the response, read until the server closes.
    static func ask(_ method: String, _ path: String, body: String = "", port: UInt16) throws -> String {
        let descriptor = try connected(port: port)
        defer { close(descriptor) }
        let length = body.isEmpty ? "" : "Content-Length: \(body.utf8.count)\r\n"
        let request = Array(
            "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\(length)\r\n\(body)".utf8)
        guard send(descriptor, request, request.count, 0) == request.count else {
            throw HarnessFailure("cannot send the request")
        }
        var answer: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while case let count = read(descriptor, &chunk, chunk.count), count > 0 { answer += chunk[..<count] }
        return String(decoding: answer, as: UTF8.self)
    }
}
