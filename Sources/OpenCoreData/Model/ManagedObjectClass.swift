import Foundation

/// Finds the classes of entities among those of the program.
enum ManagedObjectClass {
  /// The class that an entity names: `Module.Class`, or a class of the module that the entity was loaded from, else of
  /// the one that is named like the executable. Nil if there is none, or if it is no class of managed objects.
  static func of(_ entity: NSEntityDescription) -> NSManagedObject.Type? {
    let name = className(of: entity)
    guard name != "NSManagedObject" else { return NSManagedObject.self }
    return NSClassFromString(name.contains(".") ? name : "\(moduleName(of: entity)).\(name)") as? NSManagedObject.Type
  }

  /// The class that an entity names, with its module where that is known, for messages.
  static func qualifiedName(of entity: NSEntityDescription) -> String {
    let name = className(of: entity)
    return name.contains(".") ? name : "\(moduleName(of: entity)).\(name)"
  }

  /// Notes in which module to look for classes whose names do not say it: the one of the file, as `#fileID` has it.
  static func record(module fileID: String, for entities: [NSEntityDescription]) {
    let module = fileID.prefix { $0 != "/" }
    guard !module.isEmpty else { return }
    for entity in entities { entity.moduleName = String(module) }
  }

  /// A dot in front stands for the module that the model is used in.
  private static func className(of entity: NSEntityDescription) -> String {
    let name = entity.managedObjectClassName ?? "NSManagedObject"
    return name.hasPrefix(".") ? String(name.dropFirst()) : name
  }

  private static func moduleName(of entity: NSEntityDescription) -> String {
    entity.moduleName
      ?? String(ProcessInfo.processInfo.processName.map { $0.isLetter || $0.isNumber ? $0 : "_" })
  }
}
