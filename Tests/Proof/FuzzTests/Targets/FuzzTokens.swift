import Basics
import Delivery

/// For any text as a token: an accepted one is exactly an issued one, and a changed genuine one is refused.
///
/// The first byte selects the genuine token to change; each further pair is an offset and the byte to put there.
func fuzzTokens(_ input: [UInt8]) throws(Violation) {
    try checkReading(input)
    guard let kind = input.first else { return }
    let genuine = genuine[Int(kind) % genuine.count]
    var forged = genuine
    for at in stride(from: 1, to: input.count - 1, by: 2) {
        forged[Int(input[at]) % forged.count] = input[at + 1]
    }
    try checkReading(forged)
    guard forged != genuine else { return }
    let seal = FuzzWorld.seal
    try demand(
        seal.name(of: forged.raw) == nil && seal.group(of: forged.raw) == nil
            && seal.accessToken(forged.raw) == nil && seal.installationToken(forged.raw) == nil,
        "a forged token was accepted: \(String(decoding: forged, as: UTF8.self))")
}

private let genuine: [[UInt8]] = {
    let seal = FuzzWorld.seal
    return [
        seal.token(for: FuzzWorld.name(1)),
        seal.token(
            for: TokenName(FuzzWorld.name(1), prefix: TokenPrefix(Array("dGFzc3dvcmQ_aGVsbG8tdw".utf8)))),
        seal.groupKey(of: GroupName(sender: FuzzWorld.sender, number: 77)),
        seal.text(of: AccessToken(sender: FuzzWorld.sender, account: 5, expiresAt: 1_430_281_421_658)),
        seal.text(
            of: InstallationToken(
                purpose: .access, installation: FuzzWorld.installation, sender: FuzzWorld.sender,
                expiresAt: 1_430_281_421_658, mark: 3)),
    ]
}()

private func checkReading(_ text: [UInt8]) throws(Violation) {
    let seal = FuzzWorld.seal
    if let name = FuzzReach.read("token", seal.name(of: text.raw)) {
        try demand(
            seal.tokenName(of: text).map { $0.registration == name && seal.token(for: $0) == text } == true,
            "a token has two texts")
    }
    if let group = FuzzReach.read("group key", seal.group(of: text.raw)) {
        try demand(seal.groupKey(of: group) == text, "a group key has two texts")
    }
    if let token = FuzzReach.read("access token", seal.accessToken(text.raw)) {
        try demand(seal.text(of: token) == text, "an access token has two texts")
    }
    if let id = FuzzReach.read("persistent id", PersistentID(text: text.raw)) {
        try demand(Array(id.text.utf8) == text, "a persistent id has two texts")
    }
    if let bytes = FuzzReach.read("Base64", Base64.bytes(text.raw)) {
        try demand(Base64.bytes(Array(Base64.text(bytes).utf8).raw) == bytes, "re-encoding changed Base64")
    }
    if let time = FuzzReach.read("time", Timestamp.parsed(text)) {
        try demand(Timestamp.parsed(Array(Timestamp.text(time).utf8)) == time, "re-encoding changed a time")
    }
}
