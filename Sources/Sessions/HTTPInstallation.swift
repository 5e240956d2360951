import Basics
import Delivery
import Wire

extension HTTPSession {
    /// A Firebase installation is made (mcs-device 5.5).
    ///
    /// Nothing is stored: the tokens are opaque to clients, and nothing else here asks for them.
    func createInstallation(_ request: HTTPRequest, project: [UInt8]) throws(RequestFault) -> Outcome {
        guard Self.isProject(project) else {
            throw RequestFault(.badRequest, "The path names no project.")
        }
        let body: JSONValue
        do throws(JSONError) {
            body = try JSONValue(parsing: request.body.raw)
        } catch {
            throw RequestFault(.badRequest, "The body is no JSON.")
        }
        guard body.members != nil else { throw RequestFault(.badRequest, "The body is no JSON object.") }
        let fid = Self.normalised(Array((body["fid"]?.text ?? "").utf8)) ?? freshInstallationID()
        var answer = ByteBuffer()
        answer.append("{\"name\":\"projects/")
        answer.append(project)
        answer.append("/installations/")
        answer.append(fid)
        answer.append("\",\"fid\":\"")
        answer.append(fid)
        answer.append("\",\"refreshToken\":\"")
        answer.append(opaqueToken("ccsd installation refresh ", fid))
        answer.append("\",\"authToken\":{\"token\":\"")
        answer.append(opaqueToken("ccsd installation access ", fid))
        answer.append("\",\"expiresIn\":\"604800s\"}}")
        return .answer(HTTPResponse(.ok, HTTPResponse.json, answer.copied()))
    }

    private static let idLength = 22

    /// An installation id in its proper form, 22 characters of base64url; libraries send 24 of the other alphabet.
    static func normalised(_ fid: [UInt8]) -> [UInt8]? {
        guard fid.count >= idLength else { return nil }
        var proper: [UInt8] = []
        for octet in fid.prefix(idLength) {
            switch octet {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"):
                proper.append(octet)
            case UInt8(ascii: "+"): proper.append(UInt8(ascii: "-"))
            case UInt8(ascii: "/"): proper.append(UInt8(ascii: "_"))
            default: return nil
            }
        }
        return proper
    }

    /// A project's name or number as it stands in a path; it returns in the answer, so nothing odd may be in it.
    private static func isProject(_ name: [UInt8]) -> Bool {
        name.count <= 128
            && name.allSatisfy { octet in
                switch octet {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"),
                    UInt8(ascii: "."), UInt8(ascii: ":"):
                    true
                default: false
                }
            }
    }

    /// 17 octets, of which the first four bits say that it is an installation id.
    private func freshInstallationID() -> [UInt8] {
        var octets = randomOctets(3)
        octets[0] = 0x70 | octets[0] & 0x0F
        var text = ByteBuffer()
        Base64.append(octets.raw, urlSafe: true, padded: false, to: &text)
        return Array(text.copied().prefix(Self.idLength))
    }

    /// A token that says nothing and cannot be guessed: a digest over what it is for and fresh random octets.
    private func opaqueToken(_ purpose: String, _ fid: [UInt8]) -> [UInt8] {
        var text = ByteBuffer()
        let digest = settings.digest(Array(purpose.utf8) + fid + randomOctets(4))
        Base64.append(digest.octets.raw, urlSafe: true, padded: false, to: &text)
        return text.copied()
    }

    private func randomOctets(_ words: Int) -> [UInt8] {
        (0..<words).flatMap { _ in
            let word = settings.random()
            return (0..<8 as Range<UInt64>).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
        }
    }
}
