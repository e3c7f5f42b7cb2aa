import ArgumentParser
import Cairn
import CairnInspection
import RowFormat

struct ObjectsCommand: Command {
  static let configuration = CommandConfiguration(
    commandName: "objects",
    abstract: "Prints the objects of a Core Data store.",
    discussion: """
      Prints the objects entity by entity, in the order of their references. Text has a table for each entity, without \
      to-many relationships and with long values shortened; all other formats have everything, and csv does not escape \
      control characters. Predicates are in the format of NSPredicate, and may use all attributes except transformable \
      and composite ones. An object that cannot be read is omitted and reported on standard error; the exit status is \
      then 1. An object of a remote service that is not loaded in whole is "in part"; a value that is not known is "?" in \
      text, an empty cell in csv, and left out of json.

      In a store over a remote service, --remote prints what is known of the objects there, --outbox the changes that \
      the service has not accepted, and --results the lists of the service.

      Examples: kvdump objects library.cairn --entity Person --limit 10
                kvdump objects library.cairn --entity Person \\
                  --where 'ANY pets.name BEGINSWITH "R"'
                kvdump objects library.cairn --entity Person --format csv > people.csv
                kvdump objects library.cairn --outbox
      """)

  @Argument(help: "The store's directory.", completion: .directory)
  var store: String

  @Option(help: "Print for people (text), as a JSON document (json), a JSON object per line (jsonl), or a table (csv).")
  var format = ObjectFormat.text

  @Option(help: ArgumentHelp("Print only objects of this entity and its subentities.", valueName: "name"))
  var entity: String?

  #if !canImport(Darwin)
    @Option(help: ArgumentHelp("Print only objects for which this is true; requires --entity.", valueName: "predicate"))
    var `where`: String?

    @Flag(help: "Print how the objects are found, and what is read for that, instead of them; requires --where.")
    var explain = false
  #endif

  @Flag(exclusivity: .exclusive)
  var part: RemoteListing.Part?

  @Option(
    help: ArgumentHelp("Print at most this many; all if omitted.", valueName: "number"),
    transform: Int.parse)
  var limit: Int?

  func validate() throws {
    if let part {
      guard format != .csv else { throw ValidationError("--\(part.rawValue) does not print csv.") }
    }
    #if !canImport(Darwin)
      guard part == nil || self.where == nil else { throw ValidationError("--where is for objects.") }
      try validateSearch()
    #endif
  }

  #if !canImport(Darwin)
    private func validateSearch() throws {
      guard let predicate = self.where else {
        guard !explain else { throw ValidationError("--explain requires --where.") }
        return
      }
      guard !explain || format == .text else { throw ValidationError("--explain prints text only.") }
      guard entity != nil else { throw ValidationError("--where requires --entity.") }
      try ObjectSearch.validate(predicate)
    }
  #endif

  func write(to output: inout Output) throws {
    if let part {
      let store = try Watched.store(store)
      defer { try? store.close() }
      return try RemoteListing(part, of: self).write(store, to: &output)
    }
    #if canImport(Darwin)
      let store = try Watched.store(store)
      try write(store, to: &output) { try $0.forEachObject(of: $1.number, $2) }
    #else
      guard let predicate = self.where else {
        let store = try Watched.store(store)
        return try write(store, to: &output) { try $0.forEachObject(of: $1.number, $2) }
      }
      let search = try ObjectSearch(at: store, predicate)
      guard !explain else { return try output.line(try search.report(of: entity ?? "", limit)) }
      try write(search.store, to: &output) { try search.forEachObject(of: $1.name, in: $0, $2) }
    #endif
  }

  private typealias Visitor = (Result<ObjectStore.Object, any Error>) throws -> ScanStep

  private func write(
    _ store: Store, to output: inout Output,
    forEachObject: (ObjectStore, _ of: Schema.Entity, Visitor) throws -> Void
  ) throws {
    defer { try? store.close() }
    let snapshot = store.snapshot()
    defer { snapshot.close() }
    let objects = try ObjectStore(snapshot, of: store)
    let entities = try chosen(objects)
    Interruption.watch()
    var writer = try ObjectWriter(objects, entities, format)
    try writer.begin(["store": .string(self.store), "uuid": .string(objects.names.uuid)], to: &output)
    var (count, isDamaged) = (0, false)
    func passingDamage(_ body: () throws -> Void) throws {
      do {
        try body()
      } catch let error as StoreError where error.code == .corrupted {
        isDamaged = true
        output.statusIfClosed = .finding
        complain("\(error)")
      }
    }
    let result = Result {
      for entity in entities {
        try passingDamage {
          try forEachObject(objects, entity) { object in
            guard count < limit ?? .max else { return .stop }
            try passingDamage {
              try writer.write(try object.get(), to: &output)
              count += 1
            }
            return Interruption.isRequested ? .stop : .next
          }
        }
        Interruption.endIfRequested()
      }
    }
    try writer.endTable(to: &output)
    try result.get()
    try writer.end(count, to: &output)
    guard !isDamaged else { throw ExitCode.finding }
  }

  private func chosen(_ objects: ObjectStore) throws -> [Schema.Entity] {
    let chosen = try entity.map { objects.names.schema.family(of: try objects.names.entity(named: $0).number) }
    return (chosen ?? objects.names.schema.entities).sorted { $0.name < $1.name }
  }
}

/// How objects are printed.
enum ObjectFormat: String, ExpressibleByArgument, CaseIterable {
  case text, json, jsonl, csv

  /// The format of a listing; text for csv, which is no listing.
  var listed: OutputFormat { self == .json ? .json : self == .jsonl ? .jsonl : .text }

  /// The CSV columns that are not properties: the object's URI or name, and the name of its entity, which only `import`
  /// reads.
  static let (objectColumn, entityColumn) = ("object", "entity")
  static let ownColumns = [objectColumn, entityColumn]
}
