import Foundation

/// Finds the managed object class of an entity among the classes of the program.
enum ManagedObjectClass {
  /// The class that an entity names. A name without a module is looked up in the module recorded for the entity, else
  /// in the module named like the executable. Nil if there is no such class, or if it does not inherit from
  /// `NSManagedObject`.
  static func of(_ entity: NSEntityDescription) -> NSManagedObject.Type? {
    let name = className(of: entity)
    guard name != "NSManagedObject" else { return NSManagedObject.self }
    return NSClassFromString(name.contains(".") ? name : "\(moduleName(of: entity)).\(name)") as? NSManagedObject.Type
  }

  /// The name of an entity's class with its module, for messages.
  static func qualifiedName(of entity: NSEntityDescription) -> String {
    let name = className(of: entity)
    return name.contains(".") ? name : "\(moduleName(of: entity)).\(name)"
  }

  /// Records the module in which to look up the classes whose names do not include a module. `fileID` is a value of
  /// `#fileID`, whose part before the slash names the module; nothing is recorded if that part is empty.
  static func record(module fileID: String, for entities: [NSEntityDescription]) {
    let module = fileID.prefix { $0 != "/" }
    guard !module.isEmpty else { return }
    for entity in entities { entity.moduleName = String(module) }
  }

  /// The class name without a leading full stop, which stands for the module that uses the model.
  private static func className(of entity: NSEntityDescription) -> String {
    let name = entity.managedObjectClassName ?? "NSManagedObject"
    return name.hasPrefix(".") ? String(name.dropFirst()) : name
  }

  private static func moduleName(of entity: NSEntityDescription) -> String {
    entity.moduleName
      ?? String(ProcessInfo.processInfo.processName.map { $0.isLetter || $0.isNumber ? $0 : "_" })
  }
}
