import Basics

/// Messages to iOS apps, which travel through the APNs gateway.
extension DeviceHub {
    mutating func gatewayAnswered(_ answer: GatewayAnswer, _ entry: DeviceEntry, _ turn: inout Turn) {
        turn.demand(false, "the gateway answers a delivery that was not made", of: entry)
    }
}
