import CoreData

/// A form for one measurement, opened from the editor of its entry: a context below that of the editor. A measurement
/// that is not valid never reaches the entry.
@MainActor
struct MeasurementForm {
  private let context: NSManagedObjectContext
  private let measure: Measure

  /// Opens the form for the measurement of a part, which may be new.
  init(_ part: String, of entry: Entry) throws {
    guard let editor = entry.managedObjectContext else { fatalError("The editor is closed.") }
    context = editor.child(named: "measurement")
    let entry = try context.own(entry)
    measure = entry.measurement(of: part) ?? Measure(context: context)
    measure.part = part
    measure.entry = entry
  }

  var millimetres: Double {
    get { measure.millimetres }
    nonmutating set { measure.millimetres = newValue }
  }

  /// Makes the measurement one change of the entry.
  func save() throws { try context.save() }
}
