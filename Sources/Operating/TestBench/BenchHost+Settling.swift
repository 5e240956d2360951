public import Basics
import Client
import ClientProtocol
import Transport
import Wire

/// What a device has received, after everything written to its connection has come.
public struct DeviceReceipt: Sendable {
    /// The state of the device.
    public var state: VirtualDeviceState
    /// The persistent IDs in its inbox.
    public var received: Set<[UInt8]>
    /// Whether all that the server had written to its connection is received; `false` if it is to be connected, and is not.
    public var isComplete: Bool
}

/// Whether more messages are on their way to a virtual device.
extension BenchHost {
    /// Takes a place among the requests that wait; `endSettling` gives it back.
    public func beginSettling(_ device: DeviceID) throws(TestBenchProblem) {
        _ = try find(device)
        // As a check of the places only: the caller keeps its own time.
        _ = try patience(1)
        settling += 1
    }

    /// Gives back the place of `beginSettling`.
    public func endSettling() { settling -= 1 }

    /// Reports what a device has received, once all that the server has written to its connection so far has come.
    public func receipt(
        of device: DeviceID, completed: @escaping (Result<DeviceReceipt, TestBenchProblem>) -> Void
    ) {
        do throws(TestBenchProblem) {
            let found = try find(device)
            let until = reactor.now.monotonic.advanced(seconds: Limits.TestBench.answerSeconds)
            // The first one may overtake a message that another thread of the server has just handed to that of the connection.
            confirm(found, rounds: 2, until: until) { isComplete in
                completed(
                    .success(
                        DeviceReceipt(
                            state: found.state,
                            received: Set(found.messages.inbox.messages.map(\.message.persistentID)),
                            isComplete: isComplete || !found.record.isOnline)))
            }
        } catch { completed(.failure(error)) }
    }

    private func confirm(
        _ device: VirtualDevice, rounds: Int, until: Instant, completed: @escaping (Bool) -> Void
    ) {
        guard rounds > 0 else { return completed(true) }
        guard let client = device.client, client.isReady else { return completed(false) }
        device.roundTrips.begin(until: until) { [unowned self, unowned device] isAnswered in
            guard isAnswered else { return completed(false) }
            confirm(device, rounds: rounds - 1, until: until, completed: completed)
        }
        client.heartbeat()
    }

    /// Makes a new registration of a device's app, as one that is installed again without being uninstalled first: the earlier token
    /// leads to the new one for a while.
    public func reinstall(
        _ device: DeviceID, completed: @escaping (Result<VirtualDeviceState, TestBenchProblem>) -> Void
    ) {
        do throws(TestBenchProblem) {
            let found = try find(device)
            guard !found.record.isForgotten else { throw .forgotten(device) }
            let call = DeviceCalls.App(
                category: found.record.app, sender: "\(found.record.sender.number)",
                instance: TokenPrefix.random(SecureRandom.bytes).text)
            DeviceEnrolment.begin(found.record.identity, call, reactor: reactor, endpoint: settings.https) {
                [unowned self] outcome in
                switch outcome {
                case .failure(let error): completed(.failure(.failed(error.description)))
                case .success((_, let token)):
                    found.record.token = token
                    do throws(TestBenchProblem) { try save() } catch { return completed(.failure(error)) }
                    completed(.success(found.state))
                }
            }
        } catch { completed(.failure(error)) }
    }
}
