import Comparing
import Foundation

/// A library that stores the tracker. Each method returns the same for all contenders, and leaves the same tracker.
/// Methods that read issues read all their values, and return a checksum of their numbers and titles.
protocol IssueContender: Contender {
  /// Converts the identifiers that are known to identifiers of the store that was opened last.
  func resolveIdentifiers()

  /// Inserts the tracker, at most a thousand objects per save, each issue together with its comments.
  func insert(_ tracker: Tracker) throws
  func content() throws -> TrackerContent

  /// Counts the comments of each issue with one request.
  func countComments(of issues: [Int]) throws -> Int
  func fetch(uuids: [UUID]) throws -> Int
  /// Fetches the issues of each project with one request.
  func fetch(ofProjects projects: [Int]) throws -> Int
  func fetchNewestOpen(_ limit: Int, times: Int) throws -> Int
  /// Fetches pages from the oldest issues on.
  func fetch(pages: Int, of size: Int) throws -> Int
  func fetch(ofProjectsNamed names: [String]) throws -> Int
  func count(withLabelsNamed names: [String]) throws -> Int
  func countOpen(times: Int) throws -> Int
  /// Counts the issues of each status.
  func countStatuses(times: Int) throws -> Int
  func fetch(created: [Range<Date>]) throws -> Int
  func scan(priorityAbove priority: Int) throws -> Int
  func count(priorityAbove priority: Int) throws -> Int
  /// Counts the issues of each priority, and adds up their estimates.
  func groupByPriority() throws -> Int
  /// Reads the identifiers of all issues, and counts them.
  func identifiers() throws -> Int
  /// Sets a new title and status for each issue, in one save.
  func change(_ issues: [Int]) throws -> Int
  /// Deletes issues with their comments, in one save.
  func delete(_ issues: [Int]) throws
}
