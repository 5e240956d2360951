/// Requests that wait for their installation to be read from the store.
struct WaitingInstallations {
    /// By installation, oldest first.
    private var requests: [[UInt8]: [InstallationRequest]] = [:]
    /// The number of waiting requests.
    private(set) var count = 0

    /// Returns the broken invariant, or `nil` if all hold.
    var violation: String? {
        requests.values.reduce(0, { $0 + $1.count }) == count ? nil : "wrong count of waiting requests"
    }

    mutating func append(_ request: InstallationRequest) {
        requests[request.installation, default: []].append(request)
        count += 1
    }

    /// Removes and returns the oldest request for an installation. Returns `nil` if there is none.
    mutating func popFirst(_ installation: [UInt8]) -> InstallationRequest? {
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
