import CairnSimulation
import RemoteIncrementalStore

/// How a simulated service behaves when nothing goes wrong.
struct ServiceOptions: Sendable {
  var repeating = RemoteRepeating.keys
  var changesPerRequest = 1
  var pageSize = 3
  /// Whether lists have versions, and answer that they are unchanged.
  var tagsLists = true
  /// Whether objects have versions, and changes based on another version are conflicts.
  var tagsObjects = true
  /// Whether a conflict says what the service has.
  var conflictsHaveRecords = true
  /// What a list tells of its objects.
  var listed = Listed.whole
  /// Whether the list of bugs brings the users to which they are assigned.
  var includesUsers = false
  /// Whether pages begin at an index, so that objects are missed or repeated when the list shifts. Such lists are not
  /// exhaustive.
  var pagesByIndex = false
  /// Whether the list of tags only ever grows, and goes on behind its last page.
  var hasIncrementalTags = false
  /// Whether lists say that they may have objects of other entities.
  var listsHaveOthers = false
  /// What the answers to accepted changes tell; the key of a change decides which it is.
  var answers = [Answer.whole]
  /// Whether a change that refers to an object that does not exist is refused; else the reference is left out.
  var refusesLooseEnds = false
  /// How many changes back the service remembers; older cursors are gaps. 0 if it does not list its changes.
  var rememberedChanges = 1000
  /// How many changes it lists at a time.
  var changesPerPage = 4
  /// Whether the list of changes from its beginning has everything, or only a cursor.
  var changesBeginWithEverything = false
  /// What the client says of all entities.
  var freshness: RemoteFreshness? = .cached

  enum Listed: CaseIterable, Sendable {
    case identifiers, parts, whole
  }

  enum Answer: CaseIterable, Sendable {
    case nothing, identifier, whole
  }

  init() {}

  init(using random: inout SplitMix64) {
    func flip(_ oneIn: Int = 2) -> Bool { Int.random(in: 0..<oneIn, using: &random) == 0 }
    repeating = [.keys, .keys, .clientIdentifiers, .finding, .nothing][Int.random(in: 0..<5, using: &random)]
    changesPerRequest = [1, 1, 2, 5][Int.random(in: 0..<4, using: &random)]
    pageSize = Int.random(in: 1...7, using: &random)
    tagsLists = flip()
    tagsObjects = !flip(4)
    conflictsHaveRecords = flip()
    listed = flip() ? .whole : flip() ? .identifiers : .parts
    includesUsers = flip()
    pagesByIndex = flip(4)
    hasIncrementalTags = flip(4)
    answers = flip() ? [.whole] : flip() ? Answer.allCases : [flip() ? .nothing : .identifier]
    refusesLooseEnds = flip(4)
    rememberedChanges = [0, 5, 30, 1000][Int.random(in: 0..<4, using: &random)]
    changesPerPage = Int.random(in: 1...9, using: &random)
    changesBeginWithEverything = flip()
    freshness =
      [.cached, .refreshing(ifOlderThan: 0), .refreshing(ifOlderThan: 1e9)][Int.random(in: 0..<3, using: &random)]
  }
}

/// How often what goes wrong, in parts of a thousand.
struct ServiceFaults: Hashable, Sendable {
  /// A request waits, before or after the service handles it, until it is released.
  var held = 0
  /// A request does not arrive.
  var unreachable = 0
  /// The service handles the request, and the answer does not arrive, or is cut.
  var answerLost = 0
  var answerCut = 0
  /// A request arrives twice.
  var duplicated = 0
  /// The answer says that the request was lost, and the request arrives later; only with keys.
  var late = 0
  /// The service asks to come back later, for the request or for a single change.
  var busy = 0
  /// Somebody else changes something before the service handles a page, a change or other requests.
  var disturbed = 0

  static let none = ServiceFaults()

  init() {}

  init(using random: inout SplitMix64) {
    let level = [0, 50, 150, 400][Int.random(in: 0..<4, using: &random)]
    func some() -> Int { Int.random(in: 0..<3, using: &random) == 0 ? 0 : Int.random(in: 0...level, using: &random) }
    (held, unreachable, answerLost, answerCut) = (some() * 2, some(), some(), some() / 2)
    (duplicated, late, busy, disturbed) = (some(), some(), some() / 2, some() * 2)
  }
}
