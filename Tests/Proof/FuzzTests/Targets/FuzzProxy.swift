import Basics
import Transport

/// For the first bytes of a proxied connection: further bytes do not change a decision, a header has one end, and no input
/// makes the server wait for more than the longest header.
func fuzzProxy(_ input: [UInt8]) throws(Violation) {
    let whole = ProxyHeader.read(input.raw)
    FuzzReach.record(name(of: whole))
    if whole == .incomplete {
        try demand(input.count < ProxyHeader.longest, "\(input.count) bytes are the start of a header")
    }
    for length in 0..<min(input.count, ProxyHeader.longest) {
        let reading = ProxyHeader.read(Array(input.prefix(length)).raw)
        guard reading != .incomplete else { continue }
        if case .invalid = reading {
            guard case .invalid = whole else {
                throw Violation(description: "a header refused after \(length) bytes is accepted with more")
            }
        } else {
            try demand(reading == whole, "further bytes changed a header of \(length) bytes")
        }
    }
    guard case .complete(let client, let length) = whole else { return }
    try demand(length > 0 && length <= min(input.count, ProxyHeader.longest), "a header of \(length) bytes")
    guard let client else { return }
    guard let bits = client.bits else { throw Violation(description: "the client address is a path") }
    let isMapped = bits.upper == 0 && bits.lower >> 32 == 0xffff
    let isFour = if case .ipv4 = client { true } else { false }
    try demand(isMapped == isFour, "an IPv4 address counts as IPv6")
    try demand(
        AddressNetwork(client.host)?.contains(client) == true, "an address is not parsed from its own text")
}

private func name(of reading: ProxyHeader.Reading) -> String {
    switch reading {
    case .incomplete: "incomplete"
    case .complete(.ipv4?, _): "client of IPv4"
    case .complete(.some, _): "client of IPv6"
    case .complete(nil, _): "no client"
    case .invalid(let words):
        "invalid: "
            + words.split(separator: " ").prefix { $0.first != "\"" && $0.first?.isNumber != true }
            .joined(separator: " ")
    }
}
