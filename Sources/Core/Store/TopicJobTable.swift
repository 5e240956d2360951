import Basics
import Delivery

/// Topic jobs in memory: unfinished jobs, the registrations for which a message was stored, and the shared bodies.
struct TopicJobTable: Sendable {
    private struct Mark: Hashable {
        var job: TopicJobName
        var name: RegistrationName
    }

    private var jobs: [TopicJobName: TopicJob] = [:]
    private var marks: Set<Mark> = []
    private var bodies: Set<TopicJobName> = []

    /// Number of unfinished jobs.
    var count: Int { jobs.count }

    mutating func put(_ job: TopicJob) {
        jobs[job.name] = job
        bodies.insert(job.name)
    }

    mutating func mark(_ name: RegistrationName, of job: TopicJobName) {
        marks.insert(Mark(job: job, name: name))
    }

    /// Returns the marks of a job after one registration and up to another, in order.
    func marked(
        of job: TopicJobName, after: RegistrationName?, through last: RegistrationName?
    ) -> [RegistrationName] {
        marks.filter { mark in
            mark.job == job && after.map { mark.name > $0 } ?? true && last.map { mark.name <= $0 } ?? true
        }.map(\.name).sorted()
    }

    mutating func advance(_ name: TopicJobName, to cursor: TopicCursor, _ marked: [RegistrationName]) {
        jobs[name]?.cursor = cursor
        for gone in marked { marks.remove(Mark(job: name, name: gone)) }
    }

    mutating func remove(_ name: TopicJobName, _ marked: [RegistrationName]) {
        jobs[name] = nil
        for gone in marked { marks.remove(Mark(job: name, name: gone)) }
    }

    /// Whether the shared body of a job is there.
    func hasBody(of name: TopicJobName) -> Bool { bodies.contains(name) }

    /// Removes a shared body. Returns whether there was one.
    mutating func removeBody(of name: TopicJobName) -> Bool { bodies.remove(name) != nil }

    /// Returns up to `limit` wanted jobs after one, by name, and whether no others follow.
    func page(
        after: TopicJobName?, limit: Int, where isWanted: (TopicJobName) -> Bool
    ) -> ([TopicJob], Bool) {
        let found = jobs.values.filter { job in
            isWanted(job.name) && after.map { job.name > $0 } ?? true
        }.sorted { $0.name < $1.name }
        return (Array(found.prefix(limit)), found.count <= limit)
    }
}
