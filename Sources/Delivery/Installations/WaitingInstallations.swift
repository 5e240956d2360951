/// Requests of installations whose registrations the store has been asked for.
struct WaitingInstallations {
    /// By installation, oldest first.
    private var requests: [[UInt8]: [InstallationRequest]] = [:]
    /// How many there are.
    private(set) var count = 0

    /// What is wrong with the state; `nil` if nothing is.
    var violation: String? {
        requests.values.reduce(0, { $0 + $1.count }) == count ? nil : "wrong count of waiting requests"
    }

    mutating func append(_ request: InstallationRequest) {
        requests[request.installation, default: []].append(request)
        count += 1
    }

    /// The oldest one of an installation.
    mutating func take(_ installation: [UInt8]) -> InstallationRequest? {
        guard let first = requests[installation]?.first else { return nil }
        if requests[installation]?.count == 1 {
            requests[installation] = nil
        } else {
            requests[installation]?.removeFirst()
        }
        count -= 1
        return first
    }
}
