import Basics
public import Wire

extension OperatorRoute {
    /// Returns the request of a command, which accepts a stream of events.
    public static func call(_ command: some OperatorCommand) -> HTTPCall {
        let route = OperatorRoute(type(of: command).definition)
        let members = command.json.members ?? []
        var path = prefix
        for segment in route.segments {
            switch segment {
            case .word(let word): path += "/\(word)"
            case .field(let name): path += "/" + escaped(members.first { $0.key == name }?.value)
            }
        }
        let others = members.filter { !route.pathFields.contains($0.key) }
        let query = others.map { "\($0.key)=\(escaped($0.value))" }.joined(separator: "&")
        guard route.method == .post else {
            var call = HTTPCall(route.method.rawValue, query.isEmpty ? path : "\(path)?\(query)")
            call.add("Accept", mediaTypes)
            return call
        }
        var call = HTTPCall(route.method.rawValue, path)
        call.add("Accept", mediaTypes)
        call.add("Content-Type", "application/json")
        call.body = Array(JSONValue.object(others).compact.utf8)
        return call
    }

    private static let mediaTypes = "text/event-stream, application/json"

    /// Returns a value as text in which only letters, digits and `-._~` are not escaped.
    private static func escaped(_ value: JSONValue?) -> String {
        guard let value else { return "" }
        var buffer = ByteBuffer()
        for byte in (value.text ?? value.compact).utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                buffer.append(byte: byte)
            default:
                buffer.append("%")
                Hex.append(byte, to: &buffer)
            }
        }
        return String(decoding: buffer.copied(), as: UTF8.self)
    }
}
