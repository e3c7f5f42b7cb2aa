import CairnIncrementalStore
import CoreData

@main
@MainActor
enum FieldLog {
  static func main() {
    let arguments = CommandLine.arguments.dropFirst()
    guard let directory = arguments.first, let commands = Command.parse(arguments.dropFirst()) else {
      fail(Command.usage, status: 64)
    }
    do {
      let session = Session(try container(at: URL(filePath: directory)))
      for command in commands { try session.perform(command) }
      session.end()
    } catch {
      fail("FieldLog: \(error.localizedDescription)", status: 1)
    }
  }

  private static func fail(_ text: String, status: Int32) -> Never {
    FileHandle.standardError.write(Data((text + "\n").utf8))
    exit(status)
  }

  /// Opens the store, and makes a new one if there is none.
  private static func container(at directory: URL) throws -> NSPersistentContainer {
    guard let file = Bundle.module.url(forResource: "FieldLog", withExtension: "xcdatamodeld"),
      let model = NSManagedObjectModel(contentsOf: file)
    else { fatalError("There is no model.") }
    let container = NSPersistentContainer(name: "FieldLog", managedObjectModel: model)
    container.persistentStoreDescriptions = [.cairn(at: directory)]
    var failure: (any Error)?
    container.loadPersistentStores { _, error in failure = error }
    if let failure { throw failure }
    return container
  }
}
