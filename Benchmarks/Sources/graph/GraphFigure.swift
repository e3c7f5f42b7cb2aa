import Comparing

enum GraphFigure: String, Figure {
  case imported = "imported, 1,000 versions a save"
  case disk = "on disk, closed after the import"
  case opened = "opened, and a version read"
  case memoryOpened = "memory, opened"
  case memoryHeld = "memory, 10,000 versions held"
  case found = "10,000 found by ID"
  case fetched = "10,000 fetched by ID, a request each"
  case realised = "10,000 faults, one by one"
  case realisedTogether = "10,000 faults, in bulk"
  case identifiers10 = "1,000 to-many faults of 10, as IDs"
  case identifiers1000 = "10 to-many faults of 1,000, as IDs"
  case identifiersMost = "one of a third of all packages, as IDs"
  case dependents10 = "1,000 to-many faults of 10, as objects"
  case dependents1000 = "10 to-many faults of 1,000, as objects"
  case dependentsMost = "one of a third of all packages, as objects"
  case scanned = "scanned, an attribute without an index"
  case counted = "counted by the same"
  case diskCompacted = "on disk, compacted"
  case changed = "10,000 changed, 1,000 a save"
  case deleted = "10,000 deleted with a cascade"

  var unit: String {
    switch self {
    case .disk, .diskCompacted, .memoryOpened, .memoryHeld: "MiB"
    default: "ms"
    }
  }

  var mark: Double? {
    switch self {
    case .found, .fetched, .realised, .realisedTogether, .identifiers10, .identifiers1000, .identifiersMost,
      .changed, .diskCompacted:
      1
    case .disk: 1.5
    case .dependents10, .dependents1000, .dependentsMost, .scanned, .counted, .deleted: 2
    case .imported: 2.5
    case .opened, .memoryOpened, .memoryHeld: nil
    }
  }
}
