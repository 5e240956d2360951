public import Operator

extension CheckHealth.Cause {
    /// The exit code of `ccsctl health` if this is the most urgent cause.
    public var exitCode: ExitCode {
        switch self {
        case .storeFailing: .storeFailing
        case .storeDamaged: .storeDamaged
        case .notServing: .notServing
        case .registryFull: .registryFull
        case .diskLow: .diskLow
        case .descriptorsLow: .descriptorsLow
        case .certificateExpiring: .certificateExpiring
        case .apnsCertificateExpiring: .apnsCertificateExpiring
        case .clockInDoubt: .clockInDoubt
        case .logDisconnected: .logDisconnected
        case .clusterAlarm: .clusterAlarm
        case .clusterDegraded: .clusterDegraded
        case .reloadFailed: .reloadFailed
        case .gatewayFailing: .gatewayFailing
        }
    }
}
