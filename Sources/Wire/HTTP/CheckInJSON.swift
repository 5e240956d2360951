import Basics

/// Check-in as iOS has it: JSON with numbers (mcs-device 5.1).
extension CheckInRequest {
    /// Reads a request; nil if it has no `checkin` or its numbers are none.
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

    /// A number, which may stand there as text; 0 where nothing does.
    private static func number(_ value: JSONValue?) -> UInt64? {
        switch value {
        case nil, .null: 0
        case .integer(let number): UInt64(bitPattern: Int64(number))
        case .string(let text): text.isEmpty ? 0 : UInt64(text) ?? Int64(text).map { UInt64(bitPattern: $0) }
        // More than 64 bits signed has lost digits on the way: it is nobody's number.
        case .number(let number) where number >= 0 && number < 0x1p64: UInt64(number)
        default: nil
        }
    }
}

extension CheckInResponse {
    /// The answer in JSON.
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
