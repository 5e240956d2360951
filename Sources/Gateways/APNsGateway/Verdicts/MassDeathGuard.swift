import Basics
import Delivery

/// Detects that the device tokens of an app fail because of a mistake of the operator or of the app, so that they are not ended.
///
/// An app of the App Store that registers as sandbox, or a wrong bundle ID, makes Apple refuse every device token (apns 4.2). The
/// guard counts the different tokens of the last ten minutes, and distrusts the verdicts while too many of them are bad. It keeps
/// hashes, and of many tokens a sample: with `samplingShift` n, those whose hash ends in n zero bits.
struct MassDeathGuard {
    /// What the guard concludes from one answer.
    enum Change: Equatable {
        case raised(bad: Int, of: Int)
        case ended
    }

    private struct Mark {
        var at: Instant
        var isBad: Bool
    }

    private var marks: [UInt64: Mark] = [:]
    private var bad = 0
    private var samplingShift: UInt64 = 0
    private var prunedAt = Instant.distantPast
    private var distrustedUntil = Instant.distantPast
    /// Whether verdicts about device tokens of this app are distrusted.
    private(set) var isRaised = false

    /// The device tokens counted.
    var tokens: Int { marks.count }

    /// Counts the answer for a device token.
    mutating func record(token hash: UInt64, isBad: Bool, now: Instant) -> Change? {
        prune(now)
        guard hash & (1 << samplingShift &- 1) == 0 else { return judge(isBad, now) }
        if let old = marks.updateValue(Mark(at: now, isBad: isBad), forKey: hash), old.isBad { bad -= 1 }
        if isBad { bad += 1 }
        while marks.count > Limits.APNsGateway.countedTokens { thin() }
        return judge(isBad, now)
    }

    /// Forgets what is too old. Returns whether nothing is left that matters.
    mutating func isForgotten(now: Instant) -> Bool {
        prune(now)
        if distrustedUntil <= now { isRaised = false }
        return marks.isEmpty && !isRaised
    }

    private mutating func judge(_ isBad: Bool, _ now: Instant) -> Change? {
        let isKnown = marks.count >= Limits.APNsGateway.fewestTokens
        if isKnown, bad * 100 > marks.count * Limits.APNsGateway.badPercent {
            if isBad { distrustedUntil = now.advanced(seconds: Limits.APNsGateway.distrustSeconds) }
            guard !isRaised else { return nil }
            isRaised = true
            return .raised(bad: bad << samplingShift, of: marks.count << samplingShift)
        }
        guard isRaised else { return nil }
        let isHealthy = isKnown && bad * 100 < marks.count * Limits.APNsGateway.goodPercent
        guard isHealthy || distrustedUntil <= now else { return nil }
        isRaised = false
        return .ended
    }

    private mutating func prune(_ now: Instant) {
        guard prunedAt.advanced(seconds: Limits.APNsGateway.countedSeconds / 10) <= now else { return }
        prunedAt = now
        let oldest = now.advanced(seconds: -Limits.APNsGateway.countedSeconds)
        marks = marks.filter { $0.value.at > oldest }
        bad = marks.values.count(where: \.isBad)
        if marks.isEmpty { samplingShift = 0 }
    }

    private mutating func thin() {
        samplingShift += 1
        let mask: UInt64 = 1 << samplingShift &- 1
        marks = marks.filter { $0.key & mask == 0 }
        bad = marks.values.count(where: \.isBad)
    }

    /// Returns a hash of a device token whose low bits are evenly spread: FNV-1a, then the finalizer of SplitMix64.
    static func hash(_ token: [UInt8]) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in token { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        var random = SeededRandom(seed: hash)
        return random.next()
    }
}

/// The guards of all apps.
struct MassDeathGuards {
    private struct App: Hashable {
        var bundle: [UInt8]
        var environment: APNsEnvironment
    }

    private var guards: [App: MassDeathGuard] = [:]

    /// Counts the answer for a device token. Returns whether the verdict can be trusted, and what has changed.
    mutating func record(
        token: [UInt8], of bundle: [UInt8], in environment: APNsEnvironment, isBad: Bool, now: Instant
    ) -> (isTrusted: Bool, change: MassDeathGuard.Change?) {
        let app = App(bundle: bundle, environment: environment)
        var place = guards.index(forKey: app)
        if place == nil {
            if guards.count >= Limits.APNsGateway.apps { forget(now) }
            guard guards.count < Limits.APNsGateway.apps else { return (true, nil) }
            guards[app] = MassDeathGuard()
            place = guards.index(forKey: app)
        }
        guard let place else { return (true, nil) }
        let change = guards.values[place].record(
            token: MassDeathGuard.hash(token), isBad: isBad, now: now)
        return (!guards.values[place].isRaised, change)
    }

    private mutating func forget(_ now: Instant) {
        for app in guards.keys where guards[app]?.isForgotten(now: now) == true { guards[app] = nil }
    }
}
