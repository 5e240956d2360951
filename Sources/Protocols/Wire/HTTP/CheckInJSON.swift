import Basics

/// Check-in as iOS sends it: JSON with numbers (mcs-device 5.1).
extension CheckInRequest {
    /// Reads a request. Returns `nil` if `checkin` is missing or a number is invalid.
    public init?(json: JSONValue) {
        self.init()
        guard json["checkin"]?.members != nil else { return nil }
        guard let android = Self.number(json["id"]), let token = Self.number(json["security_token"]),
            let version = Self.number(json["version"])
        else { return nil }
        androidID = android
        securityToken = token
        self.version = Int32(truncatingIfNeeded: version)
        digest = json["digest"]?.text ?? ""
    }

    /// Returns a number, written as a number or as a string; 0 if absent, `nil` if invalid.
    private static func number(_ value: JSONValue?) -> UInt64? {
        switch value {
        case nil, .null: 0
        case .integer(let number): UInt64(bitPattern: Int64(number))
        case .string(let text): text.isEmpty ? 0 : UInt64(text) ?? Int64(text).map { UInt64(bitPattern: $0) }
        // A number beyond 64 bits signed has lost digits as a `Double`, so it can match no stored one.
        case .number(let number) where number >= 0 && number < 0x1p64: UInt64(number)
        default: nil
        }
    }
}

extension CheckInResponse {
    /// The response in JSON.
    public var json: JSONValue {
        var members: [JSONValue.Member] = [
            JSONValue.Member("stats_ok", true),
            JSONValue.Member("time_msec", .integer(Int(time))),
            JSONValue.Member("android_id", .integer(Int(Int64(bitPattern: androidID)))),
            JSONValue.Member("security_token", .integer(Int(Int64(bitPattern: securityToken)))),
            JSONValue.Member("version_info", .string(Self.versionInfo)),
        ]
        if let digest { members.append(JSONValue.Member("digest", .string(digest))) }
        if !settings.isEmpty {
            members.append(
                JSONValue.Member(
                    "setting",
                    .array(settings.map { ["name": .string($0.name), "value": .string($0.value)] })))
        }
        return .object(members)
    }
}
