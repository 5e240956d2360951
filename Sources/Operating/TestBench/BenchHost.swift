public import Basics
public import Client
import ClientProtocol
import Transport
import Wire

/// The virtual devices, on a thread of their own.
///
/// They are clients of the server's own listeners, so that an app server meets no difference to other devices: the code is that of
/// `ccs-device`. Confined to the thread of its reactor; `TestBench` passes it work.
public final class BenchHost {
    /// What the test bench needs of the server.
    public struct Settings: Sendable {
        /// The listener for devices.
        public var devices: Endpoint
        /// The listener for check-in and registration.
        public var https: Endpoint
        /// A listener for app servers. `nil` if there is none.
        public var appServers: Endpoint?
        /// The key by which the server recognises recorders.
        public var recorderKey: Redacted<[UInt8]>
        /// The file with the identities of the devices, and the senders that are recorded.
        public var file: String
        /// Returns the server's time at a reading of the machine's clocks.
        public var serverTime: @Sendable (Now) -> Now

        /// Creates settings.
        public init(
            devices: Endpoint, https: Endpoint, appServers: Endpoint?, recorderKey: Redacted<[UInt8]>,
            file: String,
            serverTime: @escaping @Sendable (Now) -> Now = { $0 }
        ) {
            self.devices = devices
            self.https = https
            self.appServers = appServers
            self.recorderKey = recorderKey
            self.file = file
            self.serverTime = serverTime
        }
    }

    let reactor: Reactor
    let settings: Settings
    let log: Log
    private(set) var devices: [DeviceID: VirtualDevice] = [:]
    var recorders: [SenderID: Recorder] = [:]
    private var joining = 0
    /// How many requests wait until nothing more is on its way to a device.
    var settling = 0

    init(reactor: Reactor, settings: Settings, log: Log) {
        self.reactor = reactor
        self.settings = settings
        self.log = log
    }

    // MARK: Life

    /// Reads the identities of earlier processes, connects the devices that were online, and goes on recording.
    func start() {
        do throws(TestBenchProblem) {
            let content = try VirtualDeviceFile.read(settings.file)
            for record in content.devices { use(VirtualDevice(record)) }
            for sender in content.recorded { connectRecorder(sender) }
        } catch {
            log.error("virtual_devices_unreadable", ["problem": .text("\(error)")])
        }
        tick()
    }

    private func use(_ device: VirtualDevice) {
        devices[device.record.device] = device
        if device.record.isOnline { connect(device) }
    }

    func save() throws(TestBenchProblem) {
        let content = VirtualDeviceFile.Content(
            devices: list().map(\.record), recorded: recorders.keys.sorted())
        try VirtualDeviceFile.write(content, to: settings.file)
    }

    /// Ends what waits for too long.
    private func tick() {
        let now = reactor.now.monotonic
        for device in devices.values {
            for (number, send) in device.sends where send.until <= now { device.answer(number, .waiting) }
            device.ready.endIfOverdue(now)
            device.messages.endOverdue(now)
            for completed in device.roundTrips.overdue(now) { completed(false) }
        }
        for recorder in recorders.values {
            recorder.ready.endIfOverdue(now)
            recorder.messages.endOverdue(now)
        }
        reactor.schedule(at: now.advanced(milliseconds: Self.tickMilliseconds)) { [unowned self] _ in tick() }
    }

    /// How exactly requests end whose time is over.
    private static let tickMilliseconds: Int64 = 100

    // MARK: Devices

    /// Creates a device by check-in and registration, and connects it.
    public func add(
        app: String, sender: SenderID, label: String,
        completed: @escaping (Result<VirtualDeviceState, TestBenchProblem>) -> Void
    ) {
        guard devices.count + joining < Limits.TestBench.devices else { return completed(.failure(.full)) }
        joining += 1
        // With an instance, as the SDKs do: one that is installed again has another.
        let call = DeviceCalls.App(
            category: app, sender: "\(sender.number)", instance: TokenPrefix.random(SecureRandom.bytes).text)
        DeviceEnrolment.begin(nil, call, reactor: reactor, endpoint: settings.https) {
            [unowned self] outcome in
            joining -= 1
            switch outcome {
            case .failure(let error): completed(.failure(.failed(error.description)))
            case .success((let identity, let token)):
                let record = VirtualDeviceRecord(
                    identity: identity, sender: sender, app: app, token: token, label: label)
                let device = VirtualDevice(record)
                use(device)
                do throws(TestBenchProblem) { try save() } catch { return completed(.failure(error)) }
                answer(device, completed)
            }
        }
    }

    /// All devices, in the order of their IDs.
    public func list() -> [VirtualDeviceState] {
        devices.values.map(\.state).sorted { $0.record.device.number < $1.record.device.number }
    }

    /// The state of a device.
    public func state(of device: DeviceID) throws(TestBenchProblem) -> VirtualDeviceState {
        try find(device).state
    }

    func find(_ device: DeviceID) throws(TestBenchProblem) -> VirtualDevice {
        guard let found = devices[device] else { throw .unknown(device) }
        return found
    }

    /// Connects or disconnects a device, and lets it acknowledge messages or not; `nil` leaves it as it is.
    public func change(
        _ device: DeviceID, isOnline: Bool?, acknowledges: Bool?,
        completed: @escaping (Result<VirtualDeviceState, TestBenchProblem>) -> Void
    ) {
        do throws(TestBenchProblem) {
            let found = try find(device)
            guard isOnline != true || !found.record.isForgotten else { throw .forgotten(device) }
            let isOther = acknowledges.map { $0 != found.record.acknowledges } ?? false
            found.record.isOnline = isOnline ?? found.record.isOnline
            found.record.acknowledges = acknowledges ?? found.record.acknowledges
            // How a device acknowledges is fixed for a connection.
            if !found.record.isOnline || isOther { disconnect(found) }
            if found.record.isOnline { connect(found) }
            try save()
            answer(found, completed)
        } catch { completed(.failure(error)) }
    }

    /// Reports the state of a device, as soon as it is logged in if it is to be online.
    private func answer(
        _ device: VirtualDevice, _ completed: @escaping (Result<VirtualDeviceState, TestBenchProblem>) -> Void
    ) {
        device.ready.end()
        guard device.record.isOnline, !device.state.isConnected else {
            return completed(.success(device.state))
        }
        device.ready.wait(
            until: reactor.now.monotonic.advanced(seconds: Limits.TestBench.answerSeconds)
        ) {
            guard !device.record.isForgotten else {
                return completed(.failure(.forgotten(device.record.device)))
            }
            completed(.success(device.state))
        }
    }

    /// Removes the registration of a device's app, as an app that is uninstalled: its token ends.
    public func unregister(
        _ device: DeviceID, completed: @escaping (Result<VirtualDeviceState, TestBenchProblem>) -> Void
    ) {
        do throws(TestBenchProblem) {
            let found = try find(device)
            guard found.record.token != nil else { return completed(.success(found.state)) }
            unregister(found, completed)
        } catch { completed(.failure(error)) }
    }

    private func unregister(
        _ found: VirtualDevice, _ completed: @escaping (Result<VirtualDeviceState, TestBenchProblem>) -> Void
    ) {
        let app = DeviceCalls.App(category: found.record.app, sender: "\(found.record.sender.number)")
        let http = HTTPClient(reactor: reactor, endpoint: settings.https)
        http.send(DeviceCalls.unregister(app, found.record.identity)) { [unowned self] answer in
            http.close()
            do throws(ClientError) { _ = try DeviceCalls.unregistered(try answer.get()) } catch {
                return completed(.failure(.failed(error.description)))
            }
            found.record.token = nil
            do throws(TestBenchProblem) { try save() } catch { return completed(.failure(error)) }
            completed(.success(found.state))
        }
    }

    /// Unregisters a device's app, disconnects the device and forgets it with its inbox.
    public func remove(
        _ device: DeviceID, completed: @escaping (Result<VirtualDeviceState, TestBenchProblem>) -> Void
    ) {
        unregister(device) { [unowned self] result in
            guard case .success(let state) = result, let found = devices.removeValue(forKey: device) else {
                return completed(result)
            }
            disconnect(found)
            found.messages.end(.unknown(device))
            do throws(TestBenchProblem) { try save() } catch { return completed(.failure(error)) }
            completed(.success(state))
        }
    }

    /// Removes all devices, one after the other, and all recorders. Reports how many there were.
    public func reset(
        completed: @escaping (Result<(devices: Int, recorders: Int), TestBenchProblem>) -> Void
    ) {
        do throws(TestBenchProblem) {
            let recorders = try removeRecorders()
            removeNext(after: 0) { completed($0.map { (devices: $0, recorders: recorders) }) }
        } catch { completed(.failure(error)) }
    }

    private func removeNext(
        after count: Int, completed: @escaping (Result<Int, TestBenchProblem>) -> Void
    ) {
        guard let next = devices.keys.min(by: { $0.number < $1.number }) else {
            return completed(.success(count))
        }
        remove(next) { [unowned self] result in
            switch result {
            case .success: removeNext(after: count + 1, completed: completed)
            case .failure(let problem): completed(.failure(problem))
            }
        }
    }
}
