import Basics
import Catalogue
import ClientProtocol
import Delivery
import Operator
import TestBench
import Transport
import Wire

/// The commands of the test bench.
extension ControlServer {
    func addVirtualDevice(_ command: AddVirtualDevice) throws(OperatorProblem) -> VirtualDeviceRow {
        try requireSender(command.sender)
        return VirtualDeviceRow(
            try onBench { bench, completed in
                bench.add(
                    app: command.app, sender: command.sender, label: command.label, completed: completed)
            })
    }

    func listVirtualDevices() throws(OperatorProblem) -> ListVirtualDevices.Answer {
        let states = try onBench { bench, completed in completed(.success(bench.list())) }
        return ListVirtualDevices.Answer(devices: states.map { VirtualDeviceRow($0) })
    }

    func changeVirtualDevice(_ command: ChangeVirtualDevice) throws(OperatorProblem) -> VirtualDeviceRow {
        VirtualDeviceRow(
            try onBench { bench, completed in
                bench.change(
                    command.device, isOnline: command.connection.map { $0 == .online },
                    acknowledges: command.acknowledgement.map { $0 == .always }, completed: completed)
            })
    }

    func readVirtualDevice(
        _ command: ReadVirtualDevice, _ call: Call
    ) throws(OperatorProblem) -> ReadVirtualDevice.Answer {
        let messages = try waiting(command.wait, for: command.count, call) { bench, wait, completed in
            bench.messages(
                of: command.device, after: command.after, limit: command.limit, wait, completed: completed)
        }
        let state = try onBench { bench, completed in
            completed(Result { () throws(TestBenchProblem) in try bench.state(of: command.device) })
        }
        return ReadVirtualDevice.Answer(
            messages: messages.map { ReadVirtualDevice.Row($0) }, received: state.received,
            dropped: state.dropped)
    }

    func sendFromVirtualDevice(
        _ command: SendFromVirtualDevice
    ) throws(OperatorProblem) -> SendFromVirtualDevice.Answer {
        let messageID = command.messageID ?? "bench-" + Hex.text(SecureRandom.bytes(8))
        let data = command.data.map { (key: $0.key, value: $0.value.text ?? $0.value.compact) }
        let outcome = try onBench { bench, completed in
            bench.send(
                from: command.device, messageID: messageID, lifetimeSeconds: command.timeToLive, data: data,
                completed: completed)
        }
        return switch outcome {
        // A message is returned only after it was stored.
        case .stored, .returned: SendFromVirtualDevice.Answer(messageID: messageID, outcome: .stored)
        case .waiting: SendFromVirtualDevice.Answer(messageID: messageID, outcome: .waiting)
        case .refused(let word):
            SendFromVirtualDevice.Answer(messageID: messageID, outcome: .refused, error: word)
        }
    }

    func listSent(_ command: ListSent) throws(OperatorProblem) -> ListSent.Answer {
        let messages = try onBench { bench, completed in
            completed(
                Result { () throws(TestBenchProblem) in
                    try bench.sent(
                        by: command.device, after: command.after, limit: command.limit,
                        messageID: command.messageID)
                })
        }
        return ListSent.Answer(messages: messages.map { ListSent.Row($0) })
    }

    func unregisterVirtualDevice(
        _ command: UnregisterVirtualDevice
    ) throws(OperatorProblem) -> VirtualDeviceRow {
        VirtualDeviceRow(
            try onBench { bench, completed in bench.unregister(command.device, completed: completed) })
    }

    func removeVirtualDevice(_ command: RemoveVirtualDevice) throws(OperatorProblem) -> VirtualDeviceRow {
        VirtualDeviceRow(
            try onBench { bench, completed in bench.remove(command.device, completed: completed) })
    }

    func resetTestBench() throws(OperatorProblem) -> ResetTestBench.Answer {
        let removed = try onBench(waiting: Limits.TestBench.resetSeconds) { bench, completed in
            bench.reset(completed: completed)
        }
        return ResetTestBench.Answer(
            devices: removed.devices, recorders: removed.recorders, faults: try clearFaults().removed)
    }

    /// Runs work that waits up to `seconds` for `count` messages. The wait ends with its caller, so that it does not keep its place among
    /// the waits of all callers.
    func waiting<Value: Sendable>(
        _ seconds: Int, for count: Int, _ call: Call,
        _ work:
            @escaping @Sendable (
                BenchHost, MessageWait,
                _ completed: @escaping @Sendable (Result<Value, TestBenchProblem>) -> Void
            ) -> Void
    ) throws(OperatorProblem) -> Value {
        let wait = MessageWait(
            id: requester(of: call.connection).requestID, seconds: seconds, count: count)
        let (bench, id) = (daemon.bench?.devices, call.connection)
        let end: @Sendable () -> Void = { bench?.post { $0.end(wait) } }
        return try onBench(waiting: seconds) { host, completed in
            work(host, wait, completed)
        } begun: {
            guard seconds > 0 else { return }
            mailboxes[Int(id.reactor)].post { host in
                guard let link = host.link(id) as? any CommandLink else { return end() }
                link.running.beginWait(end: end)
            }
        }
    }

    /// Runs work on the thread of the test bench, and waits for its result, `waiting` seconds longer than usual. `begun` is called
    /// when the work is in the queue of that thread.
    func onBench<Value: Sendable>(
        waiting seconds: Int = 0,
        _ work:
            @escaping @Sendable (
                BenchHost, _ completed: @escaping @Sendable (Result<Value, TestBenchProblem>) -> Void
            ) -> Void,
        begun: () -> Void = {}
    ) throws(OperatorProblem) -> Value {
        guard let bench = daemon.bench?.devices else {
            throw .testBenchIsOff
        }
        let latch = Latch<Result<Value, TestBenchProblem>>()
        bench.post { host in work(host) { latch.fulfil($0) } }
        begun()
        let most = seconds + 2 * Limits.TestBench.answerSeconds
        guard let result = latch.wait(milliseconds: Int64(most) * 1_000) else {
            throw OperatorProblem(
                "the test bench did not answer within \(most) s", hint: "see the log of ccsd")
        }
        do { return try result.get() } catch { throw OperatorProblem(error) }
    }
}

extension OperatorProblem {
    /// What every command of the test bench answers without it.
    static var testBenchIsOff: OperatorProblem {
        OperatorProblem("the test bench is off", hint: "set test_bench to true and restart ccsd")
    }

    fileprivate init(_ problem: TestBenchProblem) {
        switch problem {
        case .unknown(let device):
            self.init(
                "unknown virtual device \(device.number)",
                hint: "ccsctl virtual-devices list shows all of them")
        case .full:
            self.init(
                "there are \(Limits.TestBench.devices) virtual devices, which is the most",
                hint: "remove some with ccsctl virtual-devices remove")
        case .busy:
            self.init(
                "\(Limits.TestBench.waiting) requests wait for messages, which is the most",
                hint: "repeat the command, or leave out wait")
        case .unsent(let device):
            self.init(
                "the virtual device \(device.number) has \(Limits.Mailbox.waitingUpstream) messages, or \(Limits.TestBench.unsentBytes) bytes of them, that wait to be sent, which is the most",
                hint:
                    "connect it with ccsctl virtual-devices change --connection online, and repeat the command"
            )
        case .notRecorded(let sender):
            self.init(
                "nothing is recorded for the sender \(sender.number)",
                hint: "begin with ccsctl recorders add \(sender.number)")
        case .tooManyRecorders:
            self.init(
                "\(Limits.TestBench.recorders) senders are recorded, which is the most",
                hint: "remove some with ccsctl recorders remove")
        case .noAppServers:
            self.init(
                "there is no listener for app servers, which the recorder logs in to",
                hint: "give app_server_port and restart ccsd")
        case .unregistered(let device):
            self.init(
                "the app of the virtual device \(device.number) is unregistered",
                hint: "create another one with ccsctl virtual-devices add")
        case .forgotten(let device):
            self.init(
                "the server has forgotten the virtual device \(device.number): it was removed with devices forget, or was not connected for too long",
                hint:
                    "remove it with ccsctl virtual-devices remove \(device.number), and create another one with ccsctl virtual-devices add"
            )
        case .failed(let text):
            let isBusy = ["SERVICE_NOT_AVAILABLE", " 429", " 503"].contains { text.contains($0) }
            self.init(
                "the virtual device failed: \(text)",
                hint: isBusy
                    ? "see the log of ccsd; many new devices in a minute need a higher \(ConfigKey.unauthenticatedRequestsPerAddress.rawValue), or a minute of patience"
                    : "see the log of ccsd")
        case .file(let text):
            self.init("the virtual devices cannot be kept: \(text)", hint: "check the data directory")
        }
    }
}

extension VirtualDeviceRow {
    init(_ state: VirtualDeviceState) {
        let record = state.record
        self.init(
            device: record.device, sender: record.sender, app: record.app, label: record.label,
            isOnline: record.isOnline, isConnected: state.isConnected, isForgotten: record.isForgotten,
            acknowledges: record.acknowledges, received: state.received, dropped: state.dropped,
            token: record.token.map { Redacted($0) })
    }
}

extension ListSent.Row {
    fileprivate init(_ message: SentMessage) {
        let (state, error): (State, String?) =
            switch message.state {
            case .waiting: (.waiting, nil)
            case .stored: (.stored, nil)
            case .refused(let word): (.refused, word)
            case .returned(let word): (.returned, word)
            }
        self.init(
            number: message.number, sentAt: message.sentAt, messageID: message.messageID, state: state,
            error: error)
    }
}

extension ReadVirtualDevice.Row {
    fileprivate init(_ entry: InboxMessage<DeviceMessage>) {
        let message = entry.message
        let type: Kind =
            if message.isDeletedMarker { .deletedMessages } else if message.isRefusal || message.isReturn {
                .sendError
            } else { .message }
        self.init(
            number: entry.number, receivedAt: entry.receivedAt, type: type,
            from: Self.text(message.from),
            persistentID: message.persistentID.isEmpty ? nil : Self.text(message.persistentID),
            collapseKey: message.collapseKey.isEmpty ? nil : Self.text(message.collapseKey),
            isRepeated: entry.isRepeated,
            data: message.pairs.map { JSONValue.Member(Self.text($0.key), .string(Self.text($0.value))) },
            rawData: message.rawData.isEmpty ? nil : Base64.text(message.rawData))
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
