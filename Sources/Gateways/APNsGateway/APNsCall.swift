import Basics
public import Wire

extension APNsRequest {
    /// Headers that differ in each request: they must not displace others from the compression table (apns 1.2).
    private static let singularHeaders = ["apns-id", "apns-expiration", "apns-collapse-id"]

    /// Returns the HTTP request, whose path holds nothing but the digits; `providerToken` is `nil` on connections with a client certificate.
    public func call(providerToken: [UInt8]?) -> HTTPCall {
        var call = HTTPCall("POST", "/3/device/" + String(decoding: deviceToken.bytes, as: UTF8.self))
        call.headers.reserveCapacity(Self.singularHeaders.count + 4 + extraHeaders.count)
        if let providerToken {
            call.add("authorization", "bearer " + String(decoding: providerToken, as: UTF8.self))
        }
        call.add("apns-topic", String(decoding: topic, as: UTF8.self))
        call.add("apns-push-type", pushType.rawValue)
        call.add("apns-id", id)
        call.add("apns-expiration", String(expiration))
        call.add("apns-priority", String(priority))
        if let collapseID { call.add("apns-collapse-id", String(decoding: collapseID, as: UTF8.self)) }
        for header in extraHeaders { call.add(header.name, String(decoding: header.value, as: UTF8.self)) }
        call.singularHeaders = Self.singularHeaders
        call.body = payload
        return call
    }
}
