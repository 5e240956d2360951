import Basics
import Testing
import Wire

@Suite struct XMLWorkTests {
    /// Stanzas of about `size` bytes that are expensive for some parsers.
    private static func stanza(_ shape: Int, size: Int) -> String {
        func fill(_ unit: String) -> String { String(repeating: unit, count: size / unit.utf8.count) }
        let gcm = "<gcm xmlns='google:mobile:data'>"
        return switch shape {
        case 0: "<message>\(gcm)\(fill("a"))</gcm></message>"
        case 1: "<message>\(gcm)\(fill("&quot;a"))</gcm></message>"
        case 2: "<message><g:gcm xmlns:g='google:mobile:data'>\(fill("&#65;"))</g:gcm></message>"
        case 3: "<message>\(gcm)<![CDATA[\(fill("]]"))]]></gcm></message>"
        case 4: "<iq id='\(fill("a"))'/>"
        case 5: "<iq id='\(fill(">"))'/>"
        case 6: "<\(fill("a"))/>"
        case 7: "<iq \(fill(" "))/>"
        case 8: "<iq>\(fill("\n"))</iq>"
        case 9: "<iq>\(fill("ä"))</iq>"
        default: fill("<iq/> ")
        }
    }

    private static func work(_ shape: Int, size: Int, piece: Int) -> (work: Int, bytes: Int) {
        let text = HeaderForm.all[1].opening + stanza(shape, size: size)
        let bytes = Array(text: text)
        let record = XMLRecord.reading(
            bytes, cuts: Array(stride(from: piece, to: bytes.count, by: piece)), loggedIn: true)
        #expect(record.failure == nil && record.events.count > 1)
        return (Int(record.work), bytes.count)
    }

    @Test(
        "each byte is scanned at most five times, for any split", arguments: 0...10,
        [1, 2, 7, 1_387, 65_536])
    func linear(shape: Int, piece: Int) {
        for size in piece < 1_000 ? [1_000, 8_000] : [1_000, 8_000, 64_000] {
            let (work, bytes) = Self.work(shape, size: size, piece: piece)
            #expect(work <= 5 * bytes, "size \(size)")
        }
    }

    @Test func `a reader that restarts with each piece would be detected`() {
        let bytes = Array(text: HeaderForm.all[1].opening + Self.stanza(0, size: 8_000))
        var rescanned = 0
        for length in stride(from: 0, to: bytes.count, by: 100) {
            rescanned += Int(XMLRecord.reading(Array(bytes[..<length]), loggedIn: true).work)
        }
        #expect(rescanned > 5 * bytes.count)
    }

    @Test(
        "an unfinished stanza costs no more than the limit",
        arguments: ["<message>", "<iq id='", "<iq ", "<a", "<iq><![CDATA["])
    func bounded(start: String) throws {
        var reader = StanzaReader()
        reader.restart()
        var offset = 0
        _ = try reader.next(Array(text: HeaderForm.all[1].opening).raw, from: &offset)
        let rubbish = Array(text: start + String(repeating: "a", count: 200_000))
        var failure: XMLFailure?
        var most = 0
        var taken = 0
        for piece in stride(from: 0, to: rubbish.count, by: 1_000) {
            var offset = 0
            do throws(XMLFailure) {
                _ = try reader.next(
                    Array(rubbish[piece..<min(rubbish.count, piece + 1_000)]).raw, from: &offset)
            } catch {
                failure = error
                break
            }
            taken += 1_000
            most = max(most, reader.heldBytes)
        }
        #expect(failure == .policyViolation)
        #expect(most <= Limits.Stanza.bytes && taken <= Limits.Stanza.bytes)
    }
}
