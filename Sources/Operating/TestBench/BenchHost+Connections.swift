import Basics
import Client
import ClientProtocol
import Transport

/// The connections of the virtual devices.
extension BenchHost {
    func connect(_ device: VirtualDevice) {
        guard device.client == nil else { return }
        let client = DeviceClient(
            reactor: reactor, endpoint: settings.devices, identity: device.record.identity,
            received: device.received, acknowledgement: device.record.acknowledges ? .stream : .nothing)
        client.reconnects = true
        client.onEvent = { [unowned self, unowned device] client, event, now in
            guard device.client === client else { return }
            switch event {
            case .message(let message): received(message, by: device, now)
            case .upstreamStored(let id, _): device.answer(device.sent.end(id, .stored), .stored)
            case .loggedIn: device.ready.end()
            case .heartbeat(isAnswer: true): for completed in device.roundTrips.answer() { completed(true) }
            case .closed: for completed in device.roundTrips.end() { completed(false) }
            case .loginRefused(let code):
                log.warning(
                    "virtual_device_refused",
                    ["device": .text("\(device.record.device.number)"), "code": LogValue(Int(code))])
                if code == Self.unknownDevice { forgotten(device) }
            default: break
            }
        }
        device.client = client
        // What earlier connections have not sent, or got no answer for.
        for message in device.sent.unsent { client.send(message) }
        do throws(TransportError) { try client.connect() } catch {
            log.warning("virtual_device_unconnected", ["problem": .text(error.description)])
        }
    }

    /// The code with which the server refuses a device that it does not have.
    private static let unknownDevice: Int32 = 401

    /// Records that the server has forgotten a device, whose token is worth nothing from then on.
    private func forgotten(_ device: VirtualDevice) {
        device.record.isForgotten = true
        device.record.isOnline = false
        device.record.token = nil
        disconnect(device)
        do throws(TestBenchProblem) { try save() } catch {
            log.warning("virtual_devices_unsaved", ["problem": .text("\(error)")])
        }
        device.ready.end()
    }

    func disconnect(_ device: VirtualDevice) {
        guard let client = device.client else { return }
        device.received = client.unconfirmed
        device.client = nil
        client.onEvent = nil
        for number in device.sends.keys { device.answer(number, .waiting) }
        for completed in device.roundTrips.end() { completed(false) }
        client.close()
    }
}
