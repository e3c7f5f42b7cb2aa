import Foundation
import Testing

@Suite struct UnavailableTests {
  @Test("The compiler explains what exists only on Apple's platforms, and accepts an undo manager or none.")
  func explanations() throws {
    let uses = [
      (
        "_ = NSPersistentCloudKitContainer(name: \"Notes\")", "use NSPersistentContainer, and synchronise with a server"
      ),
      ("description.cloudKitContainerOptions = nil", "remove the options, or wrap them in #if"),
      ("description.setOption(nil, forKey: NSPersistentStoreUbiquitousContentNameKey)", "iCloud exists on Apple's"),
      ("let delegate: NSCoreDataCoreSpotlightDelegate? = nil; _ = delegate", "search with a fetch request"),
      ("attribute.allowsCloudEncryption = true", "encrypt the values yourself"),
      ("if !attribute.isIndexedBySpotlight { attribute.isIndexedBySpotlight = true }", "search with a fetch request"),
      ("description.type = NSBinaryStoreType", "use NSInMemoryStoreType, or a store on Cairn"),
      ("description.type = NSXMLStoreType", "use NSInMemoryStoreType, or a store on Cairn"),
      ("_ = NSPersistentStore.StoreType.binary", "use .inMemory, or a store on Cairn"),
      ("_ = NSPersistentStoreFileProtectionKey", "set the permissions of the folder instead"),
      ("_ = NSSQLiteErrorDomain", "no error has this domain"),
      ("object.addObserver(object, forKeyPath: \"name\", options: 0, context: nil as Int?)", "no key-value observing"),
      ("UndoManager().registerUndo(withTarget: object, selector: \"undo\", object: nil)", "withTarget:handler:"),
      ("_ = UndoManager().prepare(withInvocationTarget: object)", "withTarget:handler:"),
    ]
    let lines =
      [
        "import CoreData",
        "func use(_ description: NSPersistentStoreDescription, _ attribute: NSAttributeDescription,",
        "  _ object: NSManagedObject, _ context: NSManagedObjectContext) {",
        "context.undoManager = nil; context.undoManager = UndoManager()",
        "context.undoManager = .none; _ = context.undoManager == nil",
      ] + uses.map(\.0) + ["}"]
    let messages = try typecheck(lines.joined(separator: "\n"))
    let errors = messages.split(separator: "\n").filter { $0.hasPrefix("use.swift:") && $0.contains(" error: ") }
    #expect(errors.count == uses.count, "\(messages)")
    for (place, (use, explanation)) in uses.enumerated() {
      let error = errors.first { $0.hasPrefix("use.swift:\(place + 6):") }
      #expect(error?.contains(explanation) == true, "\(use): \(error ?? "no error")")
    }
  }

  /// What the compiler says of a source file.
  private func typecheck(_ source: String) throws -> String {
    let tests = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    return try Fixtures.withFolder { folder in
      try Data(source.utf8).write(to: folder.appending(path: "use.swift"))
      let compiler = Process()
      compiler.executableURL = URL(filePath: "/usr/bin/env")
      compiler.currentDirectoryURL = folder
      compiler.arguments = [
        "swiftc", "-typecheck", "-diagnostic-style", "llvm", "-I", tests.appending(path: "Modules").path,
        "-I", tests.appending(path: "CObjectLifetime.build").path, "use.swift",
      ]
      let pipe = Pipe()
      compiler.standardError = pipe
      try compiler.run()
      let messages = try pipe.fileHandleForReading.readToEnd() ?? Data()
      compiler.waitUntilExit()
      return String(decoding: messages, as: UTF8.self)
    }
  }
}
