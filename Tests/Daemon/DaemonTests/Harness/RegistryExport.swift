import Foundation

/// Writes exports of many devices, each with a registration, for tests with a large registry.
struct RegistryExport {
    var sender: String
    /// Whether the sender has a row. Without one the server must have it.
    var hasSender = true

    /// The time of all rows: devices that were not seen for long would expire during the test.
    private static let now = "\"" + Date().formatted(.iso8601) + "\""

    /// Writes the devices with these numbers.
    func write(_ numbers: ClosedRange<Int>, to file: URL) throws {
        let time = Self.now
        let digest = Data(repeating: 7, count: 32).base64EncodedString()
        var head = ["{\"kind\":\"header\",\"format\":1,\"ccsd\":\"0.1.0\",\"created_at\":\(time)}"]
        if hasSender {
            head.append(
                "{\"kind\":\"sender\",\"sender_id\":\"\(sender)\",\"created_at\":\(time),\"keys\":[],\"accounts\":[]}"
            )
        }
        let device =
            "\",\"sha256\":\"\(digest)\",\"created_at\":\(time),\"seen_at\":\(time),\"next_registration\":2}\n"
        let registration =
            "\",\"number\":1,\"app\":\"com.example.app\",\"sender\":\"\(sender)\",\"sender_id\":\"\(sender)\",\"created_at\":\(time)}\n"
        _ = FileManager.default.createFile(atPath: file.path, contents: nil)
        let handle = try FileHandle(forWritingTo: file)
        var text = head.joined(separator: "\n") + "\n"
        for number in numbers {
            text += "{\"kind\":\"device\",\"device\":\"" + String(number) + device
            text += "{\"kind\":\"registration\",\"device\":\"" + String(number) + registration
            guard number % 1_000 == 0 else { continue }
            try handle.write(contentsOf: Data(text.utf8))
            text = ""
        }
        let rows = 2 * numbers.count + (hasSender ? 1 : 0)
        text += "{\"kind\":\"end\",\"rows\":\(rows)}\n"
        try handle.write(contentsOf: Data(text.utf8))
        try handle.close()
    }
}
